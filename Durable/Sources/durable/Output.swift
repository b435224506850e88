import DurableTool
import Foundation

/// The standard output, in large writes, with errors.
final class Output {
    /// The size of a terminal.
    struct Size {
        var columns: Int
        var rows: Int
    }

    /// The size of the terminal; nil if the output is none.
    let terminal: Size?
    private var bytes: [UInt8] = []
    /// The number of lines that the screen still takes, while the output is one screen.
    private var rest: Int?
    private var hidden = 0

    init() {
        var size = winsize()
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let hasSize = isTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        terminal =
            isTerminal
            ? Size(columns: hasSize ? Int(size.ws_col) : 80, rows: hasSize && size.ws_row > 0 ? Int(size.ws_row) : 24)
            : nil
    }

    /// The largest number of columns of a line; nil without a terminal.
    var width: Int? { terminal?.columns }

    /// Clears the terminal, and limits the lines that follow to one screen.
    func beginScreen(_ title: String) throws {
        guard let terminal else { return }
        bytes += Array("\u{1B}[H\u{1B}[2J".utf8)
        (rest, hidden) = (max(1, terminal.rows - 2), 0)
        try line(CellText(title, limit: terminal.columns).text)
    }

    func endScreen() throws {
        if hidden > 0 { bytes += Array("… and \(hidden) more lines".utf8) }
        (rest, hidden) = (nil, 0)
        try flush()
    }

    /// Writes a line, which is safe on a terminal.
    func line(_ text: String) throws {
        if let lines = rest {
            if lines == 0 {
                hidden += 1
                return
            }
            rest = lines - 1
        }
        try part(text + "\n")
    }

    /// Writes a list: as JSON, as a table, or as a note that the store has none.
    ///
    /// - Parameters:
    ///   - name: The name of the list in JSON.
    ///   - kind: The word for one element.
    ///   - json: The elements as JSON; nil for a table.
    func list(
        _ name: String, of kind: String, _ columns: [TableLayout.Column], _ rows: [[String]], json: [JSONText]?
    ) throws -> ExitStatus {
        if let json {
            try line(JSONText.members([name: .list(json)]).line)
        } else if rows.isEmpty {
            try note("the store has no \(kind)")
        } else {
            for row in TableLayout.lines(columns, rows, limit: width) { try line(row) }
        }
        return (json?.isEmpty ?? rows.isEmpty) ? .refused : .done
    }

    /// Writes a part of a line, which is safe on a terminal.
    func part(_ text: String) throws {
        bytes += Array(text.utf8)
        if bytes.count > 1 << 16 { try flush() }
    }

    /// Writes a message to the standard error, behind the lines so far.
    func note(_ text: String) throws {
        try flush()
        printError("durable: \(text)")
    }

    /// - Throws: `Failure`.
    func flush() throws {
        var written = 0
        defer { bytes.removeAll(keepingCapacity: true) }
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress! + written, $0.count - written) }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                throw Failure(.noOutput, "the output cannot be written: \(String(cString: strerror(errno)))")
            }
        }
    }
}
