import Dispatch
import Glibc
import Synchronization
import WorkflowEngine

/// The lines at the bottom of a terminal. A thread draws them on a clock and after changes, at most twenty times a second.
final class Display: Sendable {
    private static let interval = DispatchTimeInterval.milliseconds(500)

    private let printer: RunPrinter
    private let progress: Mutex<RunProgress>
    private let wake = DispatchSemaphore(value: 0)
    private let isWoken = Atomic(false)
    private let isEnding = Atomic(false)
    private let isForgotten = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let isASCII: Bool
    private let isColoured: Bool

    /// Creates a display, and starts its thread.
    init(_ progress: RunProgress, on printer: RunPrinter, isASCII: Bool, isColoured: Bool) {
        self.printer = printer
        self.progress = Mutex(progress)
        (self.isASCII, self.isColoured) = (isASCII, isColoured)
        if !startThread(named: "opq-display", { self.run() }) { hasEnded.signal() }
    }

    /// Takes an event of the run.
    func note(_ event: RunEvent) {
        progress.withLock { $0.note(event, at: .now) }
        changed()
    }

    /// Draws soon, below the text that a shell has written while this process was stopped.
    func continued() {
        isForgotten.store(true, ordering: .sequentiallyConsistent)
        changed()
    }

    /// Draws soon.
    func changed() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { wake.signal() }
    }

    /// Removes the lines, and ends the thread.
    func end() {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        wake.signal()
        hasEnded.wait()
        printer.show([])
    }

    private func run() {
        while !isEnding.load(ordering: .sequentiallyConsistent) {
            isWoken.store(false, ordering: .sequentiallyConsistent)
            if isForgotten.exchange(false, ordering: .sequentiallyConsistent) { printer.forget() }
            // A background job must not write over the prompt of its shell.
            if tcgetpgrp(STDOUT_FILENO) == getpgrp() {
                let form = form
                printer.show(progress.withLock { $0.lines(at: .now, on: form) })
            } else {
                printer.forget()
            }
            _ = wake.wait(timeout: .now() + Self.interval)
            if !isEnding.load(ordering: .sequentiallyConsistent) { usleep(50_000) }
        }
        hasEnded.signal()
    }

    private var form: TerminalForm {
        let (columns, rows) = Self.size
        return TerminalForm(columns: columns, rows: rows, isASCII: isASCII, isColoured: isColoured)
    }

    /// The columns and the rows of the terminal.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
