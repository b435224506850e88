import Glibc
public import SystemPackage

/// A workflow file that has been read and checked.
public struct WorkflowFile: Sendable {
    /// The plan. `nil` if the file contains an error.
    public let plan: WorkflowPlan?
    /// The errors and warnings, in the order of the file.
    public let diagnostics: [Diagnostic]

    /// Reads and checks the file at `path`, and finds the items of its families.
    ///
    /// Paths in the file are relative to the directory of the file. If the file is not a regular file, for example a pipe, or
    /// if its path names a descriptor, for example `/dev/stdin`, its paths are relative to the current directory. The
    /// initializer never throws: ``diagnostics`` also contains the error of an unreadable file.
    ///
    /// - Parameter variables: The values of variables, in place of those in the file.
    public init(at path: FilePath, variables: [String: String] = [:]) {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        } catch {
            self.init(plan: nil, diagnostics: [Diagnostic("cannot read the file: \(error)")])
            return
        }
        defer { try? file.close() }
        let directory = path.removingLastComponent()
        let isStream = !file.isRegular || Self.namesDescriptor(path.string)
        self.init(in: file, directory: directory.isEmpty || isStream ? "." : directory.string, variables: variables)
    }

    /// Reads and checks the text from `file`, from the current offset to the end. Paths in the text are relative to
    /// `directory`.
    public init(in file: FileDescriptor, directory: String = ".", variables: [String: String] = [:]) {
        do {
            self.init(try Self.text(of: file), base: directory, variables: variables, identity: file.identity)
        } catch {
            self.init(plan: nil, diagnostics: [error])
        }
    }

    /// Checks `text` as the contents of a file in the directory `base`.
    ///
    /// - Parameter identity: The identity of the file, which no included file includes again.
    init(
        _ text: String, base: String, variables: [String: String] = [:], sources: ItemSources = ItemSources(),
        identity: [UInt64]? = nil
    ) {
        let loader = WorkflowLoader(text, base: base, identity: identity)
        var all = loader.diagnostics
        guard loader.isYAML else {
            self.init(plan: nil, diagnostics: loader.named(all.inFileOrder))
            return
        }
        var planner = WorkflowPlanner(
            loader.workflow, base: base, variables: variables, sources: sources, environment: loader.environment)
        let plan = planner.plan()
        for diagnostic in planner.diagnostics.inFileOrder { all.report(diagnostic) }
        self.init(plan: all.hasErrors ? nil : plan, diagnostics: loader.named(all.inFileOrder))
    }

    private init(plan: WorkflowPlan?, diagnostics: [Diagnostic]) {
        self.plan = plan
        self.diagnostics = diagnostics
    }

    /// Whether a path names an open descriptor: `/dev/stdin`, `/dev/fd/N` or `/proc/…/fd/N`.
    package static func namesDescriptor(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        guard path.hasPrefix("/"), let last = parts.last else { return false }
        if parts.count == 2, parts[0] == "dev" { return last == "stdin" }
        let isNumber = last.utf8.allSatisfy(\.isDigit)
        if parts.count == 3, parts[0] == "dev" { return parts[1] == "fd" && isNumber }
        return parts.first == "proc" && parts.count >= 4 && parts[parts.count - 2] == "fd" && isNumber
    }

    /// The number of bytes that a file of a workflow may have.
    static let sizeLimit = 64 << 20

    /// Opens a regular file. The function does not wait for the writer of a pipe.
    static func openRegular(_ path: String) throws -> FileDescriptor {
        let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking])
        if file.isRegular { return file }
        try? file.close()
        throw Diagnostic("it is not a regular file")
    }

    /// Returns the text of a file, from the current offset to the end.
    static func text(of file: FileDescriptor) throws(Diagnostic) -> String {
        let bytes: [UInt8]
        do {
            bytes = try file.readToEnd()
        } catch let error as Diagnostic {
            throw error
        } catch {
            throw Diagnostic("cannot read the file: \(error)")
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            guard text.hasByteCharacters else { return text }
            throw Diagnostic(
                "the file contains a character from U+10FF80 to U+10FFFF, which stand for bytes of file names")
        }
        let (line, column) = bytes.placeOfFirstInvalidByte
        throw Diagnostic("the file is not UTF-8", at: SourcePosition(line: line, column: column))
    }
}

extension FileDescriptor {
    /// The device and the number of the file. `nil` if the system does not know them.
    var identity: [UInt64]? {
        var status = Glibc.stat()
        return fstat(rawValue, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
    }

    /// Whether the descriptor refers to a regular file.
    fileprivate var isRegular: Bool {
        var status = Glibc.stat()
        return fstat(rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads all bytes from the current offset to the end.
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > WorkflowFile.sizeLimit { throw Diagnostic("the file has more than 64 MiB") }
        }
    }
}

/// Returns the contents of a file. `nil` if it cannot be read.
func contents(ofFile path: String) -> [UInt8]? {
    let descriptor = path.withFileName { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return try? FileDescriptor(rawValue: descriptor).readToEnd()
}

extension [UInt8] {
    /// The line and column of the first byte that is not valid UTF-8. The text must contain such a byte.
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
