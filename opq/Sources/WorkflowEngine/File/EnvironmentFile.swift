/// A file of environment variables, such as `.env`.
///
/// A line is `NAME=VALUE`, with or without `export` before it. A value may be in quotes. Between quotation marks, `\n`, `\t`,
/// `\"` and `\\` are escapes. Nothing is expanded. Empty lines, and lines that begin with `#`, are ignored.
struct EnvironmentFile: Equatable {
    /// The variables, in the order of the file.
    private(set) var variables: [(name: String, value: String)] = []
    /// The first line that has another form. `nil` if there is none.
    private(set) var wrongLine: Int?

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.variables.elementsEqual(rhs.variables) { $0 == $1 } && lhs.wrongLine == rhs.wrongLine
    }

    /// Parses a text.
    init(_ text: String) {
        for (line, number) in zip(text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline), 1...) {
            var rest = line.drop(while: \.isWhitespace)
            if rest.isEmpty || rest.hasPrefix("#") { continue }
            if rest.hasPrefix("export ") { rest = rest.dropFirst(7).drop(while: \.isWhitespace) }
            guard let equals = rest.firstIndex(of: "="), case let name = rest[..<equals], String(name).isVariableName,
                let value = Self.value(rest[rest.index(after: equals)...])
            else {
                wrongLine = wrongLine ?? number
                continue
            }
            variables.append((String(name), value))
        }
    }

    private static func value(_ text: Substring) -> String? {
        let text = text.trimmed
        guard let quote = text.first, quote == "'" || quote == "\"" else {
            // A comment after a value begins with a blank and a hash.
            let end = text.indices.first {
                text[$0] == "#" && $0 > text.startIndex && text[text.index(before: $0)].isWhitespace
            }
            return String(text[..<(end ?? text.endIndex)].trimmed)
        }
        var value = ""
        var rest = text.dropFirst()
        while let character = rest.popFirst() {
            if character == quote {
                let after = rest.trimmed
                return after.isEmpty || after.hasPrefix("#") ? value : nil
            }
            guard character == "\\", quote == "\"", let escaped = rest.popFirst() else {
                value.append(character)
                continue
            }
            switch escaped {
            case "n": value.append("\n")
            case "t": value.append("\t")
            case "\"", "\\", "$": value.append(escaped)
            default: value += "\\\(escaped)"
            }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
