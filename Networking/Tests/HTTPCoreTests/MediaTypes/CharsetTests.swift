import HTTPCore
import TestSupport
import Testing

@Suite struct CharsetTests {
    @Test(
        arguments: [
            ("text/plain", .utf8), ("text/plain; charset=\"UTF-8\"", .utf8), ("text/plain; charset=utf8", .utf8),
            ("text/plain; charset=ISO-8859-1", .latin1), ("text/plain; charset=US-ASCII", .usASCII),
            ("text/plain; charset=cp1252", Charset(name: "windows-1252")), ("text/plain; charset=UTF-16", .utf16),
            ("text/plain; charset=utf-16be", .utf16BigEndian), ("text/plain; charset=UTF-16LE", .utf16LittleEndian),
            ("text/plain; charset=GBK", Charset(name: "gb2312")),
            ("text/plain; charset=x-sjis", Charset(name: "shift_jis")),
            ("text/plain; charset=", .utf8), ("text/plain; charset=\"", .utf8), ("nonsense", .utf8),
            ("text/plain; charset=klingon", nil), ("text/plain; charset=utf-7", nil),
            ("text/plain; charset=\"gbk//TRANSLIT\"", nil),
            ("text/plain; charset=\"../gbk\"", Charset(name: "gbk")), ("text/plain; charset=ISO-2022-CN-EXT", nil),
        ] as [(String, Charset?)])
    func `the charset comes from the header or is UTF-8, and is nil if unknown`(type: String, charset: Charset?) {
        #expect(Charset(of: MediaType(type)) == charset)
    }

    @Test(
        arguments: [
            (.utf8, [0x61, 0xC3, 0xBC], "aü"), (.utf8, [0xEF, 0xBB, 0xBF, 0x61], "a"),
            (.utf8, [0x61, 0xFF, 0x62], "a\u{FFFD}b"), (.utf8, [0xC3], "\u{FFFD}"),
            (.usASCII, [0x61, 0x80, 0xFF], "a\u{FFFD}\u{FFFD}"), (.latin1, [0x61, 0x80, 0xFC], "a\u{80}ü"),
            (.utf16, [0xFF, 0xFE, 0x61, 0x00], "a"), (.utf16, [0xFE, 0xFF, 0x00, 0x61], "a"),
            (.utf16, [0x61, 0x00], "a"),
            (.utf16BigEndian, [0x00, 0x61, 0xD8, 0x3D, 0xDE, 0x00], "a😀"),
            (.utf16LittleEndian, [0x61, 0x00, 0x3D, 0xD8, 0x00, 0xDE], "a😀"),
            (.utf16LittleEndian, [0xFF, 0xFE, 0x61, 0x00], "a"), (.utf16BigEndian, [0xD8, 0x3D], "\u{FFFD}"),
            (.utf16LittleEndian, [0x61, 0x00, 0x62], "a\u{FFFD}"), (.utf16, [0x61], "\u{FFFD}"),
            (.utf16, [0xFE, 0xFF], ""),
        ] as [(Charset, [UInt8], String)])
    func `bytes are decoded, and invalid bytes are replaced`(charset: Charset, bytes: [UInt8], text: String) {
        #expect(charset.text(bytes) == text)
    }

    // The bytes come from Python's codecs.
    static let foreign: [(name: String, bytes: [UInt8], text: String)] = [
        ("gbk", [0xC4, 0xE3, 0xBA, 0xC3, 0xA3, 0xAC, 0xCA, 0xC0, 0xBD, 0xE7], "你好，世界"),
        ("GB2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"),
        ("gb18030", [0xC4, 0xE3, 0xBA, 0xC3, 0x95, 0x32, 0x82, 0x36], "你好𠀀"),
        ("Big5", [0xC1, 0x63, 0xC5, 0xE9, 0xA4, 0xA4, 0xA4, 0xE5], "繁體中文"),
        ("big5-hkscs", [0x9D, 0xEF], "嘅"),
        ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x83, 0x65, 0x83, 0x4C, 0x83, 0x58, 0x83, 0x67], "日本語テキスト"),
        ("x-sjis", [0x87, 0x40, 0x87, 0x8A], "①㈱"),
        ("EUC-JP", [0xC6, 0xFC, 0xCB, 0xDC, 0xB8, 0xEC], "日本語"),
        ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x38, 0x6C, 0x1B, 0x28, 0x42, 0x20, 0x78], "日本語 x"),
        ("EUC-KR", [0xC7, 0xD1, 0xB1, 0xB9, 0xBE, 0xEE], "한국어"),
        ("ks_c_5601-1987", [0x8C, 0x63, 0xB9, 0xE6, 0xB0, 0xA2, 0xC7, 0xCF], "똠방각하"),
        ("koi8-r", [0xF0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4], "Привет"),
        ("KOI8-U", [0xEB, 0xC9, 0xA7, 0xD7], "Київ"),
        ("windows-1251", [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], "Привет"),
        ("x-cp1250", [0xA3, 0xF3, 0x64, 0x9F], "Łódź"),
        ("iso-8859-2", [0xA3, 0xF3, 0x64, 0xBC], "Łódź"),
        ("latin9", [0xA4, 0x75, 0x72, 0x6F], "€uro"),
        ("iso_8859-7:1987", [0xC5, 0xEB, 0xEB, 0xDC, 0xE4, 0xE1], "Ελλάδα"),
        ("windows-874", [0xE4, 0xB7, 0xC2], "ไทย"),
        ("macintosh", [0x8E, 0xD1, 0xD2], "é—“"),
        ("ibm866", [0x8F, 0xE0, 0xA8, 0xA2, 0xA5, 0xE2], "Привет"),
        ("x-mac-cyrillic", [0x8F, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], "Привет"),
        ("iso-8859-8-i", [0xF9, 0xEC, 0xE5, 0xED], "שלום"),
        ("csISOLatinCyrillic", [0xBF, 0xE0, 0xD8, 0xD2, 0xD5, 0xE2], "Привет"),
    ]

    @Test(arguments: foreign)
    func `texts in all charsets of the web are decoded`(name: String, bytes: [UInt8], text: String) throws {
        #expect(try #require(Charset(name: name)).text(bytes) == text)
        #expect(Charset(name: name.uppercased()) == Charset(name: name))
    }

    @Test(
        arguments: [
            ("gbk", [0x61, 0xFF, 0x62], "a\u{FFFD}b"), ("gbk", [0x61, 0xC4], "a\u{FFFD}"),
            ("shift_jis", [0xFD, 0x93, 0xFA], "\u{FFFD}日"), ("euc-kr", [0xC7, 0xD1, 0xFF], "한\u{FFFD}"),
            ("windows-1252", [0x80, 0x81, 0x9F, 0xA0, 0xFC], "€\u{81}Ÿ\u{A0}ü"),
        ] as [(String, [UInt8], String)])
    func `invalid bytes in a charset of the system are replaced`(
        name: String, bytes: [UInt8], text: String
    ) throws {
        #expect(try #require(Charset(name: name)).text(bytes) == text)
    }

    /// The charsets of the web. A separate converter, or this module, decodes each charset.
    static let all = [
        "utf-8", "ibm866", "iso-8859-1", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8", "iso-8859-9", "iso-8859-10", "iso-8859-11", "iso-8859-13", "iso-8859-14", "iso-8859-15",
        "iso-8859-16", "koi8-r", "koi8-u", "macintosh", "windows-874", "windows-1250", "windows-1251", "windows-1252",
        "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
        "x-mac-cyrillic", "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "utf-16be",
        "utf-16le", "us-ascii",
    ]

    @Test(arguments: all) func `no bytes give no text, and any number of bytes is decoded`(name: String) throws {
        let charset = try #require(Charset(name: name))
        #expect(charset.text([]) == "" && !charset.text(0...255).isEmpty)
        var random = SeededRandom(seed: 1)
        let bytes = (0..<100_000).map { _ in UInt8(random.below(256)) }
        #expect(!charset.text(bytes).isEmpty)
        // The text is longer than the output of one conversion step.
        let ascii = String(repeating: "abc ", count: 20_000)
        if !name.hasPrefix("utf-16") { #expect(charset.text(ascii.utf8) == ascii) }
    }

    @Test func `windows-1252 differs from Latin-1 in 27 places`() throws {
        let windows = try #require(Charset(name: "windows-1252"))
        let differing = (0...255 as ClosedRange<UInt8>).filter { windows.text([$0]) != Charset.latin1.text([$0]) }
        #expect(differing.count == 27 && differing.allSatisfy { 0x80..<0xA0 ~= $0 })
    }
}
