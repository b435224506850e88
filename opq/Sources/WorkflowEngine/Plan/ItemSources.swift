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
        guard let lines = lines(of: stream) else {
            return .failure(Failure(text: "cannot read '\(file)': \(errorText(errno))"))
        }
        return .success(lines)
    }

    private static func output(of command: String, in directory: String) -> Result<[String], Failure> {
        let text = "cd -- \(directory.quotedForShell) && {\n\(command)\n}"
        guard let stream = text.withFileName({ popen($0, "re") }) else {
            return .failure(Failure(text: "cannot run '\(command)': \(errorText(errno))"))
        }
        let lines = lines(of: stream)
        let status = pclose(stream)
        guard status == 0, let lines else {
            let end = status & 0x7F == 0 ? "exit \(status >> 8)" : "signal \(status & 0x7F)"
            return .failure(Failure(text: "'\(command)' failed: \(end)"))
        }
        return .success(lines)
    }

    /// Returns the lines that are not empty, without the carriage returns at their ends. `nil` after an error.
    private static func lines(of stream: UnsafeMutablePointer<FILE>) -> [String]? {
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, stream)
            guard count >= 0, let line else { return ferror(stream) == 0 ? lines : nil }
            var bytes = line.withMemoryRebound(to: UInt8.self, capacity: count) {
                Array(UnsafeBufferPointer(start: $0, count: count))
            }
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
            if !bytes.isEmpty, !bytes.contains(0) { lines.append(String(fileName: bytes)) }
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
