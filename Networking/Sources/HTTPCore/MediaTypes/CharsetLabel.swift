/// Functions that map the names that servers use for charsets, according to the Encoding Standard of the WHATWG.
///
/// Only charsets of this list reach the converters of the system. Some other converters have crashed on bytes that a
/// server can send.
enum CharsetLabel {
    /// Returns the name without case, punctuation, a year (`iso_8859-2:1987`) and the prefixes `x-` and `cs`, so that
    /// aliases become equal.
    static func simplified(_ name: String) -> String {
        var text = name.lowercased().prefix { $0 != ":" }
        text.removeAll { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        while text.hasPrefix("x") { text.removeFirst() }
        if text.hasPrefix("cs") { text.removeFirst(2) }
        return String(text)
    }

    /// Returns the name that `iconv` uses for the charset with this simplified name, or nil if the standard does not
    /// contain the charset.
    static func converter(for label: String) -> String? {
        switch label {
        case "gb18030", "gbk", "gb2312", "gb231280", "chinese", "cp936", "windows936", "ms936", "euccn", "isoir58",
            "iso58gb231280":
            "GB18030"
        case "big5", "big5hkscs", "cnbig5", "cp950", "windows950": "BIG5-HKSCS"
        case "shiftjis", "sjis", "mskanji", "windows31j", "ms932", "cp932", "windows932": "CP932"
        case "eucjp", "eucpkdfmtjapanese": "EUC-JP"
        case "iso2022jp": "ISO-2022-JP"
        case "euckr", "ksc5601", "ksc56011987", "ksc56011989", "ksc56011", "korean", "cp949", "windows949", "uhc",
            "isoir149":
            "CP949"
        case "koi8r", "koi8", "koi": "KOI8-R"
        case "koi8u", "koi8ru": "KOI8-U"
        case "ibm866", "cp866", "866": "CP866"
        case "macintosh", "macroman", "mac": "MACINTOSH"
        case "maccyrillic", "macukrainian": "MAC-CYRILLIC"
        case "windows874", "cp874", "dos874", "tis620", "iso885911": "CP874"
        default: windows(label) ?? latin(label)
        }
    }

    private static func windows(_ label: String) -> String? {
        for prefix in ["windows125", "cp125"] where label.hasPrefix(prefix) {
            let digit = label.dropFirst(prefix.count)
            if let number = Int(digit), (0...8).contains(number), digit.utf8.count == 1 { return "CP125\(number)" }
        }
        return nil
    }

    /// Returns the name of a part of ISO 8859 other than the first part.
    private static func latin(_ label: String) -> String? {
        let named = [
            "latin2": 2, "l2": 2, "latin3": 3, "l3": 3, "latin4": 4, "l4": 4, "cyrillic": 5, "arabic": 6, "greek": 7,
            "greek8": 7, "hebrew": 8, "logical": 8, "visual": 8, "latin5": 9, "l5": 9, "latin6": 10, "l6": 10,
            "latin9": 15, "l9": 15,
        ]
        var number = named[label]
        for prefix in ["iso8859", "isolatin"] where number == nil && label.hasPrefix(prefix) {
            var rest = label.dropFirst(prefix.count)
            // The suffixes for logical and visual order do not affect the decoding.
            if rest.last == "e" || rest.last == "i" { rest.removeLast() }
            if prefix == "isolatin" {
                number = named["latin\(rest)"] ?? named[String(rest)]
            } else if let part = Int(rest), "\(part)" == rest {
                number = part
            }
        }
        guard let number, (2...16).contains(number), number != 12 else { return nil }
        return "ISO-8859-\(number)"
    }
}
