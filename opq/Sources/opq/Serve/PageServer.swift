#if Dashboard
import Dispatch
import OperationsDashboard
import Synchronization

/// The server of a page, for a program without tasks of its own.
final class PageServer: Sendable {
    /// The reason why a page cannot be served.
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let task: Task<Void, Never>
    private let hasEnded: DispatchSemaphore

    /// Starts the server, and prints the address to standard error.
    ///
    /// - Throws: ``Failure`` if the port cannot be used.
    init(_ port: Int, _ fill: (Dashboard) -> Void) throws(Failure) {
        let (isDecided, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let failure = Failing()
        var configuration = Dashboard.Configuration()
        configuration.onListen = { address in
            print("opq: the page: \(address)", to: &standardError)
            isDecided.signal()
        }
        let dashboard = Dashboard(configuration: configuration)
        fill(dashboard)
        task = Task {
            do { try await dashboard.run(port: port) } catch { failure.text.withLock { $0 = "\(error)" } }
            isDecided.signal()
            hasEnded.signal()
        }
        self.hasEnded = hasEnded
        isDecided.wait()
        if let text = failure.text.withLock(\.self) { throw Failure(description: text) }
    }

    private final class Failing: Sendable { let text = Mutex<String?>(nil) }

    /// Ends the server, and returns when the port is free.
    func stop() {
        task.cancel()
        hasEnded.wait()
    }

    /// Waits for the end of the server, which only a signal of this process brings.
    func wait() { hasEnded.wait() }
}
#endif
