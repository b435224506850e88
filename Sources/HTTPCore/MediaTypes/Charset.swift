#if Networking
/// How the bytes of a text are to be read: a charset of the WHATWG's Encoding Standard, those that the web uses.
///
/// Where servers say one charset and mean a larger one, as browsers know, the larger one is meant: `gb2312` and `gbk` are
/// GB18030, `shift_jis` is Windows-31J, `euc-kr` is Windows-949, and `big5` has the additions of Hong Kong.
///
/// Reading never fails: invalid bytes become U+FFFD. Unicode, ASCII and Latin-1 are read by this module. The system reads
/// the others: `iconv` on Linux, Core Foundation on Apple's systems.
public struct Charset: Hashable, Sendable {
    private enum Decoding: Hashable {
        case utf8, ascii, latin1
        /// The byte order mark says which order; without one it is little-endian, as browsers take it.
        case utf16
        case utf16BigEndian, utf16LittleEndian
    }

    private enum Reader: Hashable {
        case own(Decoding)
        case system(SystemCharset)
    }

    private let reader: Reader

    private init(_ decoding: Decoding) { reader = .own(decoding) }

    public static let utf8 = Charset(.utf8)
    public static let usASCII = Charset(.ascii)
    public static let latin1 = Charset(.latin1)
    public static let utf16 = Charset(.utf16)
    public static let utf16BigEndian = Charset(.utf16BigEndian)
    public static let utf16LittleEndian = Charset(.utf16LittleEndian)

    /// By a name or alias as `Content-Type` has it, in any case. Nil for a charset that the web does not use, or that this system
    /// cannot read.
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

    /// Of a body with this type: its charset; UTF-8 if it has none. Nil for one that is not known.
    public init?(of media: MediaType?) {
        // Some servers write a quote only.
        guard let name = media?.charset, name.contains(where: { $0.isLetter || $0.isNumber }) else {
            self = .utf8
            return
        }
        self.init(name: name)
    }

    /// The text without a byte order mark.
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

    /// The text of a body, by the charset of its type. In an unknown charset, valid UTF-8 is read as such.
    ///
    /// - Throws: `UnknownCharset` for other bytes in an unknown charset.
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
        // Half a character at the end.
        if !bytes.count.isMultiple(of: 2) { units.append(0xFFFD) }
        return String(decoding: units, as: UTF16.self)
    }
}

/// The text is in a charset that this system does not know, and it is not valid UTF-8. The reason `undecodable` of an
/// `HTTPError` has it.
public struct UnknownCharset: Error, Hashable, Sendable, CustomStringConvertible {
    /// As the server wrote it, in lower case.
    public let name: String

    public var description: String { "the charset '\(name)' is not known" }
}
#endif
