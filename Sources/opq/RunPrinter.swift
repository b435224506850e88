import Glibc
import WorkflowEngine

/// Prints what happens in a run, each operation's line and output in one piece.
struct RunPrinter: Sendable {
    /// Words what is printed.
    let report: RunReport

    /// Prints an event.
    ///
    /// - Returns: Whether standard output still takes anything.
    func print(_ event: RunEvent) -> Bool {
        switch event {
        case .started(let operation):
            return print(report.line(forStartOf: operation))
        case .ended(let conclusion, let spool):
            guard print(report.line(for: conclusion)) else { return false }
            guard let spool, report.showsOutput(of: conclusion) else { return true }
            return print(spool)
        }
    }

    /// Prints a line, if there is one.
    func print(_ line: String?) -> Bool {
        guard let line else { return true }
        var text = line + "\n"
        return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
    }

    private func print(_ spool: OutputSpool) -> Bool {
        var last = UInt8(ascii: "\n")
        var isTaken = true
        do {
            try spool.read { chunk in
                guard isTaken else { return }
                isTaken = writeAll(chunk, to: STDOUT_FILENO)
                last = chunk.last ?? last
            }
        } catch {
            return print("opq: the output is lost: \(error)")
        }
        // The next line is to start at the margin.
        return isTaken && (last == UInt8(ascii: "\n") || print(""))
    }
}
