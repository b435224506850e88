internal import Yams

/// A YAML document composed with the places of all its nodes, and with mappings that may repeat a key.
///
/// Yams gives up at the first repeated key. So that a file with one still gets all its other errors
/// reported, earlier occurrences are renamed, scalar for scalar, to letters nobody types, and the document
/// is composed anew; places in it stay what they are in the file.
struct YAMLDocument {
    /// The outermost node; `nil` for an empty document.
    let root: Node?
    /// The true names of renamed keys.
    private var renamed: [String: String] = [:]

    /// Composes `text`.
    ///
    /// - Throws: A `Diagnostic` if it is not YAML.
    init(_ text: String) throws(Diagnostic) {
        // Not characters, among which a carriage return and a line feed are one.
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
        while true {
            let attempt = lines.map { String(String.UnicodeScalarView($0)) }.joined(separator: "\n")
            do {
                root = try Yams.compose(yaml: attempt)
                return
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let (line, column) = (context.mark.line - 1, context.mark.column - 1)
                guard let name = names.first, let replacement = Self.unusedKey(renamed.count, asLongAs: name),
                    lines.indices.contains(line),
                    let start = Self.start(of: name, in: lines[line], from: column)
                else {
                    let list = names.map { "'\($0)'" }.joined(separator: ", ")
                    throw Diagnostic("\(list) is given more than once here", at: SourcePosition(context.mark))
                }
                lines[line].replaceSubrange(start..<start + name.unicodeScalars.count, with: replacement.unicodeScalars)
                renamed[replacement] = name
            } catch {
                throw Diagnostic(error, in: text)
            }
        }
    }

    /// The true name of a key that was renamed because it occurs again further down in its mapping.
    func nameOfRepeatedKey(_ key: String) -> String? { renamed[key] }

    private static func unusedKey(_ number: Int, asLongAs name: String) -> String? {
        guard let scalar = Unicode.Scalar(0xE000 + UInt32(number)), number < 0x1900, !name.isEmpty else { return nil }
        return String(String.UnicodeScalarView(repeatElement(scalar, count: name.unicodeScalars.count)))
    }

    /// Where `name` starts in `line`: at `column`, or right after a quotation mark there.
    private static func start(of name: String, in line: [Unicode.Scalar], from column: Int) -> Int? {
        [column, column + 1].first { line.dropFirst($0).starts(with: name.unicodeScalars) }
    }
}

extension SourcePosition {
    /// The place of a mark.
    init(_ mark: Mark) {
        self.init(line: mark.line, column: mark.column)
    }
}

extension Diagnostic {
    /// An error of the YAML parser about `text`.
    fileprivate init(_ error: any Error, in text: String) {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            let message = [context?.text, problem].compactMap(\.self).joined(separator: ", ")
            self.init("invalid YAML: \(message)", at: SourcePosition(mark))
        case YamlError.reader(let problem, let offset, _, _):
            let before = text.prefix(offset ?? 0)
            let column = before.reversed().prefix { !$0.isNewline }.reduce(1) { $0 + $1.unicodeScalars.count }
            let line = before.count(where: \.isNewline) + 1
            self.init("invalid YAML: \(problem)", at: SourcePosition(line: line, column: column))
        default:
            self.init("invalid YAML: \(error)", at: SourcePosition(line: 1, column: 1))
        }
    }
}
