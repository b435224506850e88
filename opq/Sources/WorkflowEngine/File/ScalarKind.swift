/// The meaning of a plain scalar by the rules of YAML 1.1 and 1.2.
enum ScalarKind: Equatable, Sendable {
    case string
    case null
    case boolean(Bool)
    /// A whole number in decimal digits without a plus sign and a leading zero, which all versions of YAML read as the same number.
    case integer
    /// Any other number: a fraction, an exponent, infinity, or digits that versions of YAML read differently, as `014`,
    /// `0b11`, `1_0` and `1:30`.
    case number
    /// The key `<<`.
    case merge

    /// Classifies the text of a plain scalar. The time is constant for a text that begins with another letter than those of
    /// the special words.
    init(ofPlain text: UnsafeBufferPointer<UInt8>) {
        guard let first = text.first else {
            self = .null
            return
        }
        switch first {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            self = Self.number(text) ?? .string
        case UInt8(ascii: "~"): self = text.count == 1 ? .null : .string
        case UInt8(ascii: "<"): self = text.count == 2 && text[1] == first ? .merge : .string
        case UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"),
            UInt8(ascii: "F"), UInt8(ascii: "y"), UInt8(ascii: "Y"), UInt8(ascii: "o"), UInt8(ascii: "O"):
            self = text.count <= 5 ? Self.word(String(decoding: text, as: UTF8.self)) : .string
        default: self = .string
        }
    }

    private static func word(_ text: String) -> ScalarKind {
        switch text {
        case "null", "Null", "NULL": .null
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": .boolean(true)
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": .boolean(false)
        default: .string
        }
    }

    /// Returns the kind of a number. `nil` if the text is no number in any version of YAML.
    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> ScalarKind? {
        var rest = text[...]
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard let first = rest.first else { return nil }
        if rest.allSatisfy(\.isDigit) {
            let isOdd = text.first == UInt8(ascii: "+") || first == UInt8(ascii: "0") && rest.count > 1
            return isOdd ? .number : .integer
        }
        if first == UInt8(ascii: "0"), rest.count > 2, let base = rest.dropFirst().first {
            let digits = rest.dropFirst(2)
            switch base {
            case UInt8(ascii: "x"):
                return digits.allSatisfy { $0.isHexadecimal || $0 == UInt8(ascii: "_") } ? .number : nil
            case UInt8(ascii: "o"), UInt8(ascii: "b"):
                return digits.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "_") } ? .number : nil
            default: break
            }
        }
        if first == UInt8(ascii: ".") {
            switch String(decoding: rest, as: UTF8.self) {
            case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN": return .number
            default: break
            }
        }
        return isFraction(rest) || isInBase60(rest) ? .number : nil
    }

    /// Whether the text is digits with underscores, with an optional fraction and exponent.
    private static func isFraction(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = text
        let whole = rest.prefix { $0.isDigit || $0 == UInt8(ascii: "_") }
        rest = rest.dropFirst(whole.count)
        var hasDigit = whole.contains(where: \.isDigit)
        if whole.first == UInt8(ascii: "_") { return false }
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0.isDigit || $0 == UInt8(ascii: "_") }
            hasDigit = hasDigit || fraction.contains(where: \.isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard hasDigit else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard rest.first?.isDigit == true else { return false }
            rest = rest.drop(while: \.isDigit)
        }
        return rest.isEmpty
    }

    /// Whether the text is a number in base 60, as in `1:30`.
    private static func isInBase60(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, first.first?.isDigit == true else { return false }
        return first.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "_") }
            && parts.dropFirst().allSatisfy { part in
                (1...2).contains(part.prefix(while: \.isDigit).count)
                    && part.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
            }
    }
}

extension UInt8 {
    /// Whether the byte is a decimal digit of ASCII.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is an ASCII letter.
    var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    fileprivate var isHexadecimal: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    /// Whether the byte is an ASCII letter, digit or underscore.
    var isInName: Bool { isDigit || isLetter || self == UInt8(ascii: "_") }
}
