/// A character encoding of the Encoding Standard of the WHATWG, which contains the encodings that the web uses.
///
/// Servers often name a charset and send a superset of it. Like browsers, `Charset` uses the superset: GB18030 for
/// `gb2312` and `gbk`, Windows-31J for `shift_jis`, Windows-949 for `euc-kr`, and Big5 with the additions of Hong Kong
/// for `big5`.
///
/// Decoding never fails: invalid bytes become U+FFFD. This module decodes Unicode, ASCII and Latin-1. The system
/// decodes the other charsets, with `iconv` on Linux and Core Foundation on Apple platforms.
public struct Charset: Hashable, Sendable {
    private enum Decoding: Hashable {
        case utf8, ascii, latin1
        /// The byte order mark gives the order. Without a mark the order is little-endian, as in browsers.
        case utf16
        case utf16BigEndian, utf16LittleEndian
    }

    private enum Reader: Hashable {
        case own(Decoding)
        case system(SystemCharset)
    }

    private let reader: Reader

    private init(_ decoding: Decoding) { reader = .own(decoding) }

    /// UTF-8.
    public static let utf8 = Charset(.utf8)
    /// US-ASCII. Bytes above 127 are invalid.
    public static let usASCII = Charset(.ascii)
    /// ISO-8859-1, in which every byte is valid.
    public static let latin1 = Charset(.latin1)
    /// UTF-16 in the order of the byte order mark, or in little-endian order without a mark.
    public static let utf16 = Charset(.utf16)
    /// UTF-16 in big-endian order.
    public static let utf16BigEndian = Charset(.utf16BigEndian)
    /// UTF-16 in little-endian order.
    public static let utf16LittleEndian = Charset(.utf16LittleEndian)

    /// Creates the charset with a name or alias as in `Content-Type`, in any case. Returns nil if the Encoding Standard
    /// does not contain the charset, or if the system cannot decode it.
    public init?(name: String) {
        switch CharsetLabel.simplified(name) {
        case "utf8", "unicode11utf8", "unicode20utf8": self = .utf8
        case "usascii", "ascii", "ansix341968", "ansix341986", "iso646us": self = .usASCII
        case "iso88591", "isolatin1", "latin1", "l1", "ibm819", "cp819": self = .latin1
        case "utf16": self = .utf16
        case "utf16be", "unicodefffe": self = .utf16BigEndian
        case "utf16le", "unicode", "unicodefeff", "ucs2", "iso10646ucs2": self = .utf16LittleEndian
        case let label:
            guard let charset = CharsetLabel.converter(for: label).flatMap(SystemCharset.init) else { return nil }
            reader = .system(charset)
        }
    }

    /// Creates the charset of a body with this media type. The charset is UTF-8 if the type names none. Returns nil for
    /// an unknown charset.
    public init?(of media: MediaType?) {
        // Some servers send a quotation mark in place of a name.
        guard let name = media?.charset, name.contains(where: { $0.isLetter || $0.isNumber }) else {
            self = .utf8
            return
        }
        self.init(name: name)
    }

    /// Returns the decoded text, without a byte order mark.
    public func text(_ bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        switch reader {
        case .own(.utf8):
            return String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        case .own(.ascii): return Self.scalars(bytes) { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }
        case .own(.latin1): return Self.scalars(bytes) { Unicode.Scalar($0) }
        case .own(.utf16): return Self.utf16(bytes, bigEndian: bytes.starts(with: [0xFE, 0xFF]))
        case .own(.utf16BigEndian): return Self.utf16(bytes, bigEndian: true)
        case .own(.utf16LittleEndian): return Self.utf16(bytes, bigEndian: false)
        case .system(let charset): return charset.text(bytes)
        }
    }

    /// Returns the text of a body in the charset of its media type. If the charset is unknown and the bytes are valid
    /// UTF-8, the text is UTF-8.
    ///
    /// - Throws: `UnknownCharset` if the charset is unknown and the bytes are not valid UTF-8.
    static func text(_ body: some Sequence<UInt8>, of media: MediaType?) throws(UnknownCharset) -> String {
        if let charset = Charset(of: media) { return charset.text(body) }
        let bytes = Array(body)
        guard String(validating: bytes, as: UTF8.self) != nil else { throw UnknownCharset(name: media?.charset ?? "") }
        return Charset.utf8.text(bytes)
    }

    private static func scalars(_ bytes: [UInt8], _ scalar: (UInt8) -> Unicode.Scalar) -> String {
        String(String.UnicodeScalarView(bytes.map(scalar)))
    }

    private static func utf16(_ bytes: [UInt8], bigEndian: Bool) -> String {
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (one, other) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return bigEndian ? one << 8 | other : other << 8 | one
        }
        if units.first == 0xFEFF { units.removeFirst() }
        // An odd byte at the end is an incomplete character.
        if !bytes.count.isMultiple(of: 2) { units.append(0xFFFD) }
        return String(decoding: units, as: UTF16.self)
    }
}

/// An error for a text in an unknown charset that is not valid UTF-8. `HTTPError.Reason.undecodable` carries this
/// error.
public struct UnknownCharset: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name that the server sent, in lower case.
    public let name: String

    /// A description of the error for people.
    public var description: String { "the charset '\(name)' is unknown" }
}
