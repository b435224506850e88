import DashboardCore
public import Operations
import Synchronization

/// A page in the browser that shows queues while they run: their operations, why these wait, a timeline and a graph.
///
/// ```swift
/// let dashboard = Dashboard()
/// dashboard.add(queue)
/// try await dashboard.run(port: 8080)   // prints the address to open
/// ```
///
/// The dashboard listens on 127.0.0.1 only, and answers only requests with its token. Until a page is opened, it costs the
/// queues nothing. While a page is open, each operation of a queue that is recorded pays about a microsecond. Safe to use from any
/// thread.
public final class Dashboard: Sendable {
    /// The settings of a dashboard.
    public struct Configuration: Sendable {
        /// Whether a page can suspend queues, change limits, cancel operations and change priorities. False by default.
        public var permitsSteering = false
        /// Whether a page shows the inputs of durable operations, which may have secrets. False by default.
        public var showsInputs = false
        /// The secret of the printed address; nil for a random one.
        public var token: String?
        /// A closure that receives the address with the token when the dashboard listens; nil to print it to standard error.
        public var onListen: (@Sendable (String) -> Void)?

        /// Creates the default settings.
        public init() {}
    }

    let configuration: Configuration
    private let added = Mutex<[any Source]>([])
    private let isRunning = Atomic(false)

    /// Creates a dashboard without queues.
    public init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Adds a queue. The dashboard does not keep the queue alive. Adding a queue again has no effect.
    public func add(_ queue: OperationQueue) {
        add { id, sources in
            let isKnown = sources.contains { ($0 as? QueueSource)?.queue === queue }
            return isKnown ? nil : QueueSource(queue, id: id, permitsSteering: configuration.permitsSteering)
        }
    }

    func add(_ make: (_ id: String, _ sources: [any Source]) -> (any Source)?) {
        added.withLock { sources in
            if let source = make("s\(sources.count)", sources) { sources.append(source) }
        }
    }

    var sources: [any Source] { added.withLock { $0 } }

    /// Serves the page until the task is cancelled. An open page reads the last state then, which takes half a second at most.
    ///
    /// - Parameter port: The port of 127.0.0.1; 0 for any free port.
    /// - Throws: ``DashboardError`` if the port cannot be used, or if this dashboard runs already.
    public func run(port: Int = 8080) async throws {
        guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { throw DashboardError.runsAlready }
        defer { isRunning.store(false, ordering: .releasing) }
        let listener = try Listener(port: port)
        let token = configuration.token ?? Self.randomToken()
        let responder = Responder(
            access: Access(token: token, port: listener.port), permitsSteering: configuration.permitsSteering,
            sources: { [self] in sources })
        let server = Server(listener, responder)
        let address = "http://127.0.0.1:\(listener.port)/?token=\(token)"
        if let onListen = configuration.onListen {
            onListen(address)
        } else {
            printToStandardError("dashboard: \(address)")
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in server.start { continuation.resume() } }
        } onCancel: {
            server.stop()
        }
    }

    private static func randomToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// An error of ``Dashboard/run(port:)``.
public enum DashboardError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The port cannot be used, for the reason that the system gives.
    case portUnavailable(Int, reason: String)
    /// The dashboard runs already.
    case runsAlready

    public var description: String {
        switch self {
        case .portUnavailable(let port, let reason):
            "the dashboard cannot listen on port \(port) of 127.0.0.1: \(reason); choose another port, or 0 for any free one"
        case .runsAlready: "the dashboard runs already"
        }
    }
}
