/// A here-document, whose lines begin after the line with its `<<`.
struct HereDocument: Equatable {
    /// The line that ends the document.
    let delimiter: String
    /// Whether the delimiter is quoted. The shell replaces nothing in such a document.
    let isQuoted: Bool
    /// Whether the shell removes tabs at the start of each line, as `<<-` requires.
    let stripsTabs: Bool
    /// The effect of a character of the document.
    enum Step {
        case read
        /// The character is the last of the document.
        case end
        /// The line of the character begins with the delimiter. Within `$(…)` a line such as `E)` ends the document in bash,
        /// but not in dash.
        case unclear
    }

    /// The part of the delimiter that the current line has not matched yet. `nil` if the line differs from the delimiter.
    private var rest: ArraySlice<Unicode.Scalar>?
    private var isAtStart = true

    /// Reads a character of the document.
    mutating func pass(_ scalar: Unicode.Scalar) -> Step {
        if scalar == "\n" {
            if rest?.isEmpty == true { return .end }
            beginLine()
            return .read
        }
        if stripsTabs, isAtStart, scalar == "\t" { return .read }
        isAtStart = false
        guard let next = rest else { return .read }
        if next.isEmpty { return .unclear }
        rest = next.first == scalar ? next.dropFirst() : nil
        return .read
    }

    /// Reads a value in place of a placeholder.
    mutating func takeValue() -> Step { pass("\0") }

    private mutating func beginLine() {
        rest = Array(delimiter.unicodeScalars)[...]
        isAtStart = true
    }
}

extension HereDocument {
    /// A reader for the delimiter after `<<`.
    struct Opening: Equatable {
        /// The effect of a character after `<<`.
        enum Step: Equatable {
            case read
            /// The character is the first after the delimiter.
            case end(HereDocument)
            /// The operator is `<<<`, which takes a word.
            case isString
            case unclear
        }

        private var text = ""
        private var isQuoted = false
        private var stripsTabs = false
        private var isFirst = true
        private var hasBegun = false
        private var quote: Unicode.Scalar?
        private var isEscaped = false

        /// Reads a character of the delimiter.
        mutating func pass(_ scalar: Unicode.Scalar) -> Step {
            defer { isFirst = false }
            if isEscaped || quote != nil {
                if isEscaped { isEscaped = false } else if scalar == quote { return close() }
                // A delimiter with a backslash within quotes or with a line feed is too unusual to support.
                if scalar == "\n" || scalar == "\\" { return .unclear }
                text.unicodeScalars.append(scalar)
                return .read
            }
            switch scalar {
            case "<" where isFirst: return .isString
            case "-" where isFirst: stripsTabs = true
            case "'", "\"": (quote, isQuoted, hasBegun) = (scalar, true, true)
            case "\\": (isEscaped, isQuoted, hasBegun) = (true, true, true)
            case "$", "`": return .unclear
            case " " where !hasBegun, "\t" where !hasBegun: break
            case " ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")":
                guard hasBegun else { return .unclear }
                return .end(HereDocument(delimiter: text, isQuoted: isQuoted, stripsTabs: stripsTabs))
            default:
                hasBegun = true
                text.unicodeScalars.append(scalar)
            }
            return .read
        }

        private mutating func close() -> Step {
            quote = nil
            return .read
        }
    }

    private init(delimiter: String, isQuoted: Bool, stripsTabs: Bool) {
        self.delimiter = delimiter
        self.isQuoted = isQuoted
        self.stripsTabs = stripsTabs
        beginLine()
    }
}
