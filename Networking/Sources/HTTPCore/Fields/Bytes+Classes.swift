/// Character classes of RFC 3986, RFC 9110 and RFC 9112.
extension UInt8 {
    package var isASCIILetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }
    package var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    /// Whether the byte is a C0 control character or DEL.
    package var isControl: Bool { self < 0x20 || self == 0x7F }
    package var isTokenByte: Bool { isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
    package var isToken68Byte: Bool { isASCIILetter || isASCIIDigit || "-._~+/".utf8.contains(self) }
    /// Whether the byte is an unreserved character, which a URL never has to encode.
    package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isASCIILetter || isASCIIDigit
        }
    }
    /// Whether the path of a URL can contain the byte without encoding.
    package var isPathByte: Bool {
        switch self {
        // The range also contains the digits and the characters &'()*+,-./:;
        case UInt8(ascii: "&")...UInt8(ascii: ";"): true
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "@"): true
        default: isUnreserved
        }
    }

    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// Returns two lowercase hexadecimal digits for each byte.
    package func hexadecimal() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
