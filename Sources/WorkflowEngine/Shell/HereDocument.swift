/// A here-document, whose lines begin after the line with its `<<`.
struct HereDocument: Equatable {
    /// The line that ends it.
    let delimiter: String
    /// Whether the delimiter has quotes: then nothing in the document is replaced.
    let isQuoted: Bool
    /// Whether `<<-` takes the tabs off the front of each line.
    let stripsTabs: Bool
    private var line = ""

    /// Passes over a character of the document.
    ///
    /// - Returns: Whether this was the last of the document.
    mutating func isEnded(by scalar: Unicode.Scalar) -> Bool {
        guard scalar == "\n" else {
            line.unicodeScalars.append(scalar)
            return false
        }
        defer { line = "" }
        return (stripsTabs ? String(line.drop { $0 == "\t" }) : line) == delimiter
    }

    /// Passes over a value: its line is not the delimiter.
    mutating func takeValue() { line.unicodeScalars.append("\0") }
}

extension HereDocument {
    /// Reads what stands behind `<<`.
    struct Opening: Equatable {
        /// What a character behind `<<` does.
        enum Step: Equatable {
            case read
            /// It is the first behind the delimiter.
            case end(HereDocument)
            /// `<<<`, which takes a word.
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

        /// Passes over a character.
        mutating func pass(_ scalar: Unicode.Scalar) -> Step {
            defer { isFirst = false }
            if isEscaped || quote != nil {
                if isEscaped { isEscaped = false } else if scalar == quote { return close() }
                // A backslash within quotes, or a line feed, is beyond anybody's use of a delimiter.
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
    }
}
