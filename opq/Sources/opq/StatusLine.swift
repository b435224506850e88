import Glibc
import Operations
import Synchronization
import WorkflowEngine

/// A status line that is redrawn as often as the terminal accepts output.
final class StatusLine: Sendable {
    private let printer: RunPrinter
    private let drawing = OperationQueue()
    private let isDrawn = Atomic(true)
    private let progress = Mutex<RunProgress?>(nil)

    /// Creates a status line for a run that has not begun.
    init(of run: WorkflowRun, on printer: RunPrinter) {
        self.printer = printer
        drawing.maxConcurrentOperationCount = 1
        let progress = run.progress { [weak self] in self?.changed($0) }
        self.progress.withLock { $0 = progress }
    }

    /// At most one drawing waits in the queue. It draws the status at the time when it runs.
    private func changed(_ progress: RunProgress) {
        guard isDrawn.exchange(false, ordering: .acquiringAndReleasing) else { return }
        drawing.addOperation {
            self.isDrawn.store(true, ordering: .sequentiallyConsistent)
            self.printer.show(progress.status.line(columns: Self.columns))
        }
    }

    /// Removes the status line, after the last drawing has ended.
    func end() {
        progress.withLock { $0 = nil }
        drawing.waitUntilAllOperationsAreFinished()
        printer.show(nil)
    }

    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
