import Glibc
import Operations
import Synchronization
import WorkflowEngine

/// A printer for the events of a run. The line and the output of an operation are printed together. On a terminal, the last
/// line shows the status.
final class RunPrinter: Sendable {
    /// The report that produces the texts.
    let report: RunReport
    private let screen = Mutex(Screen())
    private let notes = OperationQueue()

    /// Creates a printer for a report.
    init(report: RunReport) { self.report = report }

    /// Prints an event.
    ///
    /// - Returns: Whether standard output still accepts data.
    func print(_ event: RunEvent) -> Bool {
        onScreen { screen in
            switch event {
            case .started(let operation):
                return screen.put(line: report.line(forStartOf: operation))
            case .ended(let conclusion, let spool):
                guard screen.put(line: report.line(for: conclusion)) else { return false }
                guard let spool, report.showsOutput(of: conclusion) else { return true }
                return screen.put(spool)
            case .explained(let operation, let reason):
                return screen.put(line: "\(operation.name.visible): \(reason.visible)")
            case .retrying(let operation, let text):
                return screen.put(line: "\(operation.name.visible)  \(text.visible)")
            case .short(let text):
                screen.put(note: "opq: waiting: \(text)")
                return true
            }
        }
    }

    /// Announces that a signal cancels the run.
    ///
    /// The method does not block, because a write to a stopped terminal may hold the lock of the screen.
    func announceCancellation() {
        notes.addOperation {
            _ = self.onScreen { screen in
                screen.put(note: "opq: stopping; a second signal ends the commands at once")
                return true
            }
        }
    }

    /// Prints a line unless `line` is `nil`. Returns whether standard output still accepts data.
    func print(_ line: String?) -> Bool { onScreen { $0.put(line: line) } }

    /// The error number of the first failed write to standard output. `nil` if no write failed.
    var failure: Int32? { screen.withLock(\.failure) }

    /// Replaces the status line. `nil` removes the line.
    func show(_ status: String?) {
        _ = onScreen { screen in
            if screen.status != status {
                screen.clear()
                screen.status = status
            }
            return true
        }
    }

    /// Calls `body` with the screen under a lock, and restores the status line afterwards.
    private func onScreen(_ body: (inout Screen) -> Bool) -> Bool {
        screen.withLock { screen in
            defer { screen.restoreStatus() }
            return body(&screen)
        }
    }
}

/// The standard output with a status in its last line.
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

    /// Prints a line on standard error, above the status.
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
        // The next line must start in the first column.
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

    /// Stores the error number of the first failed write.
    private mutating func take(_ isWritten: Bool) -> Bool {
        if !isWritten { failure = failure ?? errno }
        return isWritten
    }
}
