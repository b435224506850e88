import Glibc
import Operations
import Synchronization
import WorkflowEngine

/// Draws how far a run is, as often as the terminal takes it.
final class StatusLine: Sendable {
    private let printer: RunPrinter
    private let drawing = OperationQueue()
    private let isDrawn = Atomic(true)
    private let progress = Mutex<RunProgress?>(nil)

    /// Observes a run that has not begun.
    init(of run: WorkflowRun, on printer: RunPrinter) {
        self.printer = printer
        drawing.maxConcurrentOperationCount = 1
        let progress = run.progress { [weak self] in self?.changed($0) }
        self.progress.withLock { $0 = progress }
    }

    /// One drawing waits at most: it draws what is so when its turn comes.
    private func changed(_ progress: RunProgress) {
        guard isDrawn.exchange(false, ordering: .acquiringAndReleasing) else { return }
        drawing.addOperation {
            self.isDrawn.store(true, ordering: .sequentiallyConsistent)
            self.printer.show(progress.status.line(columns: Self.columns))
        }
    }

    /// Takes the line away.
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
