#if Networking
/// How the bytes of a text are to be read. Reading never fails: what is not valid becomes U+FFFD.
public enum Charset: String, Hashable, Sendable, Codable, CaseIterable {
    case utf8 = "utf-8"
    case usASCII = "us-ascii"
    case latin1 = "iso-8859-1"
    case windows1252 = "windows-1252"
    /// The byte order mark says which order; without one it is little-endian, as browsers take it.
    case utf16 = "utf-16"
    case utf16BigEndian = "utf-16be"
    case utf16LittleEndian = "utf-16le"

    /// By a name as Content-Type has it; nil for those that are not known.
    public init?(name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8", "unicode-1-1-utf-8": self = .utf8
        case "us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us": self = .usASCII
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1": self = .latin1
        case "windows-1252", "cp1252", "x-cp1252": self = .windows1252
        case "utf-16", "utf16": self = .utf16
        case "utf-16be", "utf16be": self = .utf16BigEndian
        case "utf-16le", "utf16le": self = .utf16LittleEndian
        default: return nil
        }
    }

    /// Of a body with this type: its charset; UTF-8 if it has none, or one that is not known (rule R5).
    public init(of media: MediaType?) { self = media?.charset.flatMap(Charset.init(name:)) ?? .utf8 }

    /// The text without a byte order mark.
    public func text(_ bytes: some Sequence<UInt8>) -> String {
        switch self {
        case .utf8:
            let bytes = Array(bytes)
            return String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        case .usASCII: return Self.scalars(bytes) { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }
        case .latin1: return Self.scalars(bytes) { Unicode.Scalar($0) }
        case .windows1252:
            return Self.scalars(bytes) { 0x80..<0xA0 ~= $0 ? Self.windows[Int($0) - 0x80] : Unicode.Scalar($0) }
        case .utf16:
            let bytes = Array(bytes)
            return Self.utf16(bytes, bigEndian: bytes.starts(with: [0xFE, 0xFF]))
        case .utf16BigEndian: return Self.utf16(Array(bytes), bigEndian: true)
        case .utf16LittleEndian: return Self.utf16(Array(bytes), bigEndian: false)
        }
    }

    private static func scalars(_ bytes: some Sequence<UInt8>, _ scalar: (UInt8) -> Unicode.Scalar) -> String {
        String(String.UnicodeScalarView(bytes.map(scalar)))
    }

    private static func utf16(_ bytes: [UInt8], bigEndian: Bool) -> String {
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (one, other) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return bigEndian ? one << 8 | other : other << 8 | one
        }
        if units.first == 0xFEFF { units.removeFirst() }
        // Half a character at the end.
        if !bytes.count.isMultiple(of: 2) { units.append(0xFFFD) }
        return String(decoding: units, as: UTF16.self)
    }

    /// From 0x80 on; the five that Windows leaves open stay what they are.
    private static let windows: [Unicode.Scalar] = [
        "\u{20AC}", "\u{81}", "\u{201A}", "\u{0192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}",
        "\u{02C6}", "\u{2030}", "\u{0160}", "\u{2039}", "\u{0152}", "\u{8D}", "\u{017D}", "\u{8F}",
        "\u{90}", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}",
        "\u{02DC}", "\u{2122}", "\u{0161}", "\u{203A}", "\u{0153}", "\u{9D}", "\u{017E}", "\u{0178}",
    ]
}
#endif
