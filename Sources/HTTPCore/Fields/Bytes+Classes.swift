#if Networking
/// The classes of characters of RFC 3986, RFC 9110 and RFC 9112.
extension UInt8 {
    package var isASCIILetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }
    package var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    /// C0 and DEL.
    package var isControl: Bool { self < 0x20 || self == 0x7F }
    package var isTokenByte: Bool { isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
    package var isToken68Byte: Bool { isASCIILetter || isASCIIDigit || "-._~+/".utf8.contains(self) }
    /// What no address needs to encode.
    package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isASCIILetter || isASCIIDigit
        }
    }
    /// What stands for itself in the path of an address.
    package var isPathByte: Bool {
        switch self {
        // With digits, and the characters &'()*+,-./:; in between.
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
    /// Two hexadecimal digits a byte.
    package func hexadecimal() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
#endif
