import Glibc

/// The globs, files and commands in which families find their items.
struct ItemSources {
    /// The reason why a source cannot be read.
    struct Failure: Error {
        let text: String
    }

    /// Returns the paths that match a pattern in a directory.
    var matches: (_ pattern: String, _ directory: String) -> Glob.Findings = { Glob(pattern: $0).find(in: $1) }
    /// Returns the lines of a file in a directory.
    var lines: (_ file: String, _ directory: String) -> Result<[String], Failure> = Self.lines(of:in:)
    /// Returns the lines that a shell command prints in a directory.
    var output: (_ command: String, _ directory: String) -> Result<[String], Failure> = Self.output(of:in:)

    private static func lines(of file: String, in directory: String) -> Result<[String], Failure> {
        let path = file.hasPrefix("/") ? file : "\(directory)/\(file)"
        guard let stream = path.withFileName({ fopen($0, "re") }) else {
            return .failure(Failure(text: "cannot read '\(file)': \(errorText(errno))"))
        }
        defer { fclose(stream) }
        guard let bytes = bytes(of: fileno(stream)) else {
            return .failure(Failure(text: "cannot read '\(file)': \(errorText(errno))"))
        }
        guard bytes.count <= WorkflowFile.sizeLimit else {
            return .failure(Failure(text: "'\(file)' has more than 64 MiB"))
        }
        return .success(lines(in: bytes))
    }

    private static func output(of command: String, in directory: String) -> Result<[String], Failure> {
        let text = "cd -- \(directory.quotedForShell) && {\n\(command)\n}"
        let (status, bytes): (Int32, [UInt8])
        switch ShellOutput.run(text, limit: WorkflowFile.sizeLimit) {
        case .failure(let error):
            return .failure(Failure(text: "cannot run '\(command)': \(errorText(error.code))"))
        case .success(let output): (status, bytes) = (output.status, output.bytes)
        }
        if bytes.count > WorkflowFile.sizeLimit {
            return .failure(Failure(text: "'\(command)' prints more than 64 MiB"))
        }
        guard status == 0 else {
            let end = status & 0x7F == 0 ? "exit \(status >> 8)" : "signal \(status & 0x7F)"
            return .failure(Failure(text: "'\(command)' failed: \(end)"))
        }
        return .success(lines(in: bytes))
    }

    /// Returns the bytes from a descriptor, and at most a few more than the limit. `nil` after an error.
    private static func bytes(of descriptor: CInt) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= WorkflowFile.sizeLimit {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Returns the lines that are not empty, without the carriage returns at their ends.
    private static func lines(in bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            var line = line
            while line.last == UInt8(ascii: "\r") { line.removeLast() }
            return line.isEmpty || line.contains(0) ? nil : String(fileName: Array(line))
        }
    }
}

extension String {
    /// The text as one word of a shell command: in apostrophes, unless it consists of letters, digits and a few marks.
    package var quotedForShell: String {
        let isPlain = !isEmpty && utf8.allSatisfy { $0.isInName || "./-+,:@%=".utf8.contains($0) }
        return isPlain ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}
