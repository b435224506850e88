/// Percent-encoding of RFC 3986.
package enum PercentEncoding {
    /// Encodes each byte for which `belongs` returns false. If `keepsEncoded` is true, the function leaves percent
    /// signs unchanged, as browsers do, so that existing escapes are not encoded again.
    package static func encode(
        _ bytes: some Sequence<UInt8>, keepsEncoded: Bool = false, where belongs: (UInt8) -> Bool
    ) -> String {
        // Most texts need no encoding, and this path allocates no array.
        let plain = bytes.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { belongs($0) || (keepsEncoded && $0 == UInt8(ascii: "%")) }
                ? String(decoding: bytes, as: UTF8.self) : nil
        }
        if let text = plain ?? nil { return text }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes {
            if belongs(byte) || (keepsEncoded && byte == UInt8(ascii: "%")) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text.append((byte >> 4).hexDigit)
                text.append((byte & 15).hexDigit)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the decoded bytes. A percent sign without two hexadecimal digits remains as it is.
    package static func decode(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        var (decoded, position) = ([UInt8](), 0)
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = bytes[position + 1].hexValue, let low = bytes[position + 2].hexValue
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(bytes[position])
                position += 1
            }
        }
        return decoded
    }
}

extension UInt8 {
    /// The uppercase hexadecimal digit of a number below 16.
    fileprivate var hexDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10 }
}
