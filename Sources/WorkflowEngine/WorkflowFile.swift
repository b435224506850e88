public import SystemPackage

/// A workflow file that has been read and checked.
public struct WorkflowFile: Sendable {
    /// The plan, if there is nothing wrong with the file.
    public let plan: WorkflowPlan?
    /// Everything that is wrong with it, in the order of the file.
    public let diagnostics: [Diagnostic]

    /// Reads and checks the file at `path`, and looks up the globs in it.
    public init(at path: FilePath) {
        let text: String
        do {
            text = try Self.text(of: path)
        } catch {
            self.init(plan: nil, diagnostics: [error])
            return
        }
        let base = path.removingLastComponent()
        self.init(text, base: base.isEmpty ? "." : base.string)
    }

    /// Checks `text` as that of a file in the directory `base`.
    init(
        _ text: String, base: String,
        matches: @escaping (_ pattern: String, _ directory: String) -> [String] = { Glob(pattern: $0).matches(in: $1) }
    ) {
        let parser = WorkflowParser(text)
        var planner = WorkflowPlanner(parser.workflow, base: base, matches: matches)
        let plan = planner.plan()
        var all = parser.diagnostics
        for diagnostic in planner.diagnostics.inFileOrder {
            all.report(diagnostic.message, at: diagnostic.position, mend: diagnostic.mend)
        }
        self.init(plan: all.isEmpty ? plan : nil, diagnostics: all.inFileOrder)
    }

    private init(plan: WorkflowPlan?, diagnostics: [Diagnostic]) {
        self.plan = plan
        self.diagnostics = diagnostics
    }

    private static func text(of path: FilePath) throws(Diagnostic) -> String {
        let bytes: [UInt8]
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
            bytes = try file.closeAfter { try file.readToEnd() }
        } catch let error as Errno {
            throw Diagnostic("cannot read the file: \(error)")
        } catch {
            throw Diagnostic("cannot read the file: \(error)")
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let (line, column) = bytes.placeOfFirstInvalidByte
        throw Diagnostic("the file is not UTF-8", at: SourcePosition(line: line, column: column))
    }
}

extension FileDescriptor {
    /// Everything from the current offset to the end.
    fileprivate func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }
}

extension [UInt8] {
    /// The line and column of the first byte that is not UTF-8, in a text that has one.
    fileprivate var placeOfFirstInvalidByte: (line: Int, column: Int) {
        var (line, column) = (1, 1)
        var decoder = UTF8()
        var bytes = makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&bytes) {
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        return (line, column)
    }
}
