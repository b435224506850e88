/// The lines of an output that is shown while its command still writes.
public struct OutputLines: Sendable {
    /// A line without an end is shown in parts of this size.
    static let longest = 64 * 1024

    private var offset = 0
    private var rest: [UInt8] = []

    /// Creates the lines of an output of which nothing is shown.
    public init() {}

    /// Returns the lines that are complete since the last call, without their line feeds.
    ///
    /// Of a line that a program writes again and again after carriage returns, the last state is returned.
    ///
    /// - Parameter isAtEnd: Whether no output follows, so that the last line is complete without a line feed.
    /// - Throws: `Errno` if the file of the output cannot be read.
    public mutating func take(from spool: OutputSpool, isAtEnd: Bool = false) throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        // Before the read: output that comes meanwhile is news again.
        spool.takeNews()
        try spool.read(from: offset) { chunk in
            offset += chunk.count
            add(chunk, to: &lines)
        }
        if isAtEnd, !rest.isEmpty {
            lines.append(Self.visible(rest[...]))
            rest = []
        }
        return lines
    }

    mutating func add(_ chunk: some Sequence<UInt8>, to lines: inout [[UInt8]]) {
        rest += chunk
        var start = rest.startIndex
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Self.visible(rest[start..<end]))
            start = end + 1
        }
        rest.removeFirst(start)
        if rest.count >= Self.longest {
            lines.append(Self.visible(rest[...]))
            rest = []
        }
    }

    private static func visible(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var line = line
        while line.last == UInt8(ascii: "\r") { line.removeLast() }
        if let last = line.lastIndex(of: UInt8(ascii: "\r")) { line = line[(last + 1)...] }
        return Array(line)
    }
}
