internal import CYaml

/// A YAML document whose nodes know their places in the text.
///
/// The initializer composes the nodes from the events of libyaml. It does not compare keys: a comparison by their whole
/// contents could take exponential time for aliases of aliases.
struct YAMLDocument {
    /// The outermost node; `nil` for an empty document.
    let root: YAMLNode?

    /// Composes `text`.
    ///
    /// - Parameter file: The number of the file in places.
    /// - Throws: A `Diagnostic` if it is not YAML.
    init(_ text: String, file: UInt32 = 0) throws(Diagnostic) {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(Diagnostic) in
                var composer = YAMLComposer(bytes, file: file)
                defer { composer.end() }
                return try composer.compose()
            }
        }
        root = try result.get()
    }
}

/// A composer that creates nodes from the events of one document.
private struct YAMLComposer {
    private let text: UnsafeBufferPointer<UInt8>
    // The parser needs a fixed address, because it stores pointers to its own fields.
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private var anchors: [String: YAMLNode] = [:]

    private let file: UInt32

    init(_ text: UnsafeBufferPointer<UInt8>, file: UInt32) {
        self.text = text
        self.file = file
        yaml_parser_initialize(parser)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    func end() {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    mutating func compose() throws(Diagnostic) -> YAMLNode? {
        _ = try next { $0.type }
        guard try next({ $0.type }) != YAML_STREAM_END_EVENT else { return nil }
        guard let root = try node() else { return nil }
        _ = try next { $0.type }
        let (type, position) = try next { [file] in ($0.type, SourcePosition($0.start_mark, file: file)) }
        guard type == YAML_STREAM_END_EVENT else {
            throw Diagnostic("invalid YAML: expected a single document, but found another one", at: position)
        }
        return root
    }

    /// Passes the next event to `body`. The event is deleted afterwards.
    private func next<Value>(_ body: (borrowing yaml_event_t) -> Value) throws(Diagnostic) -> Value {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw diagnostic }
        defer { yaml_event_delete(&event) }
        return body(event)
    }

    private enum Part {
        case scalar(YAMLNode, anchor: String?)
        case alias(String, SourcePosition)
        case sequence(anchor: String?, SourcePosition)
        case mapping(anchor: String?, SourcePosition)
        case end
    }

    /// Returns the node that begins with the next event. `nil` at the end of the enclosing node. The parser limits the depth
    /// of the recursion.
    private mutating func node() throws(Diagnostic) -> YAMLNode? {
        let node: YAMLNode
        let name: String?
        switch try next({ [file] in Self.part($0, in: file) }) {
        case .end: return nil
        case .alias(let name, let position):
            guard let node = anchors[name] else {
                throw Diagnostic("invalid YAML: there is no anchor '&\(name)' above", at: position)
            }
            return node
        case .scalar(let scalar, let anchor):
            (node, name) = (scalar, anchor)
        case .sequence(let anchor, let position):
            var nodes: [YAMLNode] = []
            while let element = try self.node() { nodes.append(element) }
            (node, name) = (YAMLNode(.sequence(nodes), at: position), anchor)
        case .mapping(let anchor, let position):
            var pairs: [YAMLNode.Pair] = []
            while let key = try self.node(), let value = try self.node() {
                pairs.append(YAMLNode.Pair(key: key, value: value))
            }
            (node, name) = (YAMLNode(.mapping(pairs), at: position), anchor)
        }
        if let name { anchors[name] = node }
        return node
    }

    private static func part(_ event: borrowing yaml_event_t, in file: UInt32) -> Part {
        let position = SourcePosition(event.start_mark, file: file)
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let text = String(decoding: bytes, as: UTF8.self)
            // A quoted scalar is a string, even if its text looks like a number.
            let kind = scalar.quoted_implicit == 1 ? .string : kind(of: bytes, tag: string(scalar.tag))
            return .scalar(YAMLNode(.scalar(text, kind), at: position), anchor: string(scalar.anchor))
        case YAML_ALIAS_EVENT: return .alias(string(event.data.alias.anchor) ?? "", position)
        case YAML_SEQUENCE_START_EVENT: return .sequence(anchor: string(event.data.sequence_start.anchor), position)
        case YAML_MAPPING_START_EVENT: return .mapping(anchor: string(event.data.mapping_start.anchor), position)
        default: return .end
        }
    }

    private static func kind(of text: UnsafeBufferPointer<UInt8>, tag: String?) -> ScalarKind {
        switch tag {
        case nil: ScalarKind(ofPlain: text)
        case "tag:yaml.org,2002:null": .null
        default: .string
        }
    }

    private static func string(_ bytes: UnsafeMutablePointer<UInt8>?) -> String? {
        bytes.map { String(cString: UnsafePointer($0)) }
    }

    // MARK: - Errors

    /// The error that the parser reports.
    private var diagnostic: Diagnostic {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
        switch parser.pointee.error {
        case YAML_SCANNER_ERROR, YAML_PARSER_ERROR, YAML_COMPOSER_ERROR:
            let position = SourcePosition(parser.pointee.problem_mark, file: file)
            if problem.hasPrefix("Maximum nesting level") {
                return Diagnostic("invalid YAML: lists and maps are nested too deeply", at: position)
            }
            let context = parser.pointee.context.map { String(cString: $0) + ", " } ?? ""
            if isTab(at: Int(parser.pointee.problem_mark.index)) {
                return Diagnostic(
                    "line \(position.line) is indented by a tab", at: position, remedy: "YAML permits spaces only")
            }
            return Diagnostic(
                "invalid YAML: \(context)\(problem)", at: position, remedy: Self.remedy(for: problem))
        case YAML_READER_ERROR:
            return Diagnostic("invalid YAML: \(problem)", at: place(of: Int(parser.pointee.problem_offset)))
        default:
            return Diagnostic("invalid YAML: \(problem)", at: SourcePosition(line: 1, column: 1, file: file))
        }
    }

    /// Returns the fix for the usual cause of a problem, which is a command without quotes.
    private static func remedy(for problem: String) -> String? {
        if problem.hasSuffix("',' or '}'") || problem.hasSuffix("',' or ']'") {
            return "put a value that holds {, }, [, ], a comma, or a colon before a space in quotes"
        }
        if problem.hasPrefix("mapping values are not allowed") {
            return "put a value that holds a colon before a space in quotes"
        }
        let beginnings = [
            "did not find expected key", "found character that cannot start", "did not find expected alphabetic",
        ]
        return beginnings.contains(where: problem.hasPrefix) ? "put the whole value in quotes" : nil
    }

    /// Whether the character at an index, counted in characters, is a tab in the indentation of its line.
    private func isTab(at index: Int) -> Bool {
        // A byte whose highest bits are 10 continues a character.
        var left = index
        var offset = 0
        while offset < text.count, left > 0 || text[offset] & 0xC0 == 0x80 {
            if text[offset] & 0xC0 != 0x80 { left -= 1 }
            offset += 1
        }
        // The problem is at the tab, or at the first character after it.
        let before = text[..<min(offset + 1, text.count)]
        let line = before[(before.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)...]
        let blanks = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return blanks.contains(UInt8(ascii: "\t")) && line.count - blanks.count <= 1
    }

    private func place(of offset: Int) -> SourcePosition {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A byte whose highest bits are 10 continues a character.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
        return SourcePosition(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column, file: file)
    }
}

extension SourcePosition {
    fileprivate init(_ mark: yaml_mark_t, file: UInt32) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1, file: file)
    }
}
