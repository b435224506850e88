import Glibc
import Operations
import Synchronization
import WorkflowEngine

/// Prints what happens in a run, each operation's line and output in one piece; under it, on a terminal, a line with the
/// status, which is written over.
final class RunPrinter: Sendable {
    /// Words what is printed.
    let report: RunReport
    private let screen = Mutex(Screen())
    private let notes = OperationQueue()

    /// A printer of a report.
    init(report: RunReport) { self.report = report }

    /// Prints an event.
    ///
    /// - Returns: Whether standard output still takes anything.
    func print(_ event: RunEvent) -> Bool {
        onScreen { screen in
            switch event {
            case .started(let operation):
                return screen.put(line: report.line(forStartOf: operation))
            case .ended(let conclusion, let spool):
                guard screen.put(line: report.line(for: conclusion)) else { return false }
                guard let spool, report.showsOutput(of: conclusion) else { return true }
                return screen.put(spool)
            case .short(let text):
                screen.put(note: "opq: waiting: \(text)")
                return true
            }
        }
    }

    /// Says, when there is time for it, that a signal was understood.
    ///
    /// The caller does not wait: the screen may be held by a write to a terminal that takes nothing.
    func announceCancellation() {
        notes.addOperation {
            _ = self.onScreen { screen in
                screen.put(note: "opq: stopping; a second signal ends the commands at once")
                return true
            }
        }
    }

    /// Prints a line, if there is one.
    func print(_ line: String?) -> Bool { onScreen { $0.put(line: line) } }

    /// Why standard output took no more, if it did not: the number of the first error.
    var failure: Int32? { screen.withLock(\.failure) }

    /// Shows the status in place of the one before; nil takes it away.
    func show(_ status: String?) {
        _ = onScreen { screen in
            if screen.status != status {
                screen.clear()
                screen.status = status
            }
            return true
        }
    }

    /// One piece of output at a time; the status comes again after it.
    private func onScreen(_ body: (inout Screen) -> Bool) -> Bool {
        screen.withLock { screen in
            defer { screen.restoreStatus() }
            return body(&screen)
        }
    }
}

/// Standard output, with a status in its last line.
private struct Screen {
    var status: String?
    private(set) var failure: Int32?
    private var showsStatus = false

    mutating func clear() {
        guard showsStatus else { return }
        showsStatus = false
        _ = put("\r\u{1B}[K")
    }

    mutating func restoreStatus() {
        guard let status, !showsStatus else { return }
        showsStatus = true
        write(status)
    }

    /// Puts a line on standard error, above the status.
    mutating func put(note: String) {
        clear()
        Swift.print(note, to: &standardError)
    }

    mutating func put(line: String?) -> Bool { line.map { put($0 + "\n") } ?? true }

    mutating func put(_ spool: OutputSpool) -> Bool {
        clear()
        var last = UInt8(ascii: "\n")
        var isTaken = true
        do {
            try spool.read { chunk in
                guard isTaken else { return }
                isTaken = take(writeAll(chunk, to: STDOUT_FILENO))
                last = chunk.last ?? last
            }
        } catch {
            return put(line: "opq: the output is lost: \(error)")
        }
        // The next line is to start at the margin.
        return isTaken && (last == UInt8(ascii: "\n") || put(line: ""))
    }

    private mutating func put(_ text: String) -> Bool {
        clear()
        return write(text)
    }

    @discardableResult
    private mutating func write(_ text: String) -> Bool {
        var text = text
        return take(text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) })
    }

    /// Keeps the error of a write that failed.
    private mutating func take(_ isWritten: Bool) -> Bool {
        if !isWritten { failure = failure ?? errno }
        return isWritten
    }
}
