import DurableCore
public import Logging
public import Operations
public import ServiceLifecycle

/// A service that runs durable operations of some queues in this process.
///
/// ```swift
/// let worker = try DurableWorker(store, queues: ["photos": .limit(8)], operations: [Resize.self])
/// try await worker.run()
/// ```
///
/// Any number of workers, in any number of processes, may serve a queue.
///
/// While attempts are shorter than a transaction, a worker claims operations before it has slots for them. Such an operation
/// counts as running, and an operation of higher priority that is added later starts after it. The worker returns the
/// operation after 50 ms without a slot.
public final class DurableWorker: Service {
    /// The number of operations of one queue that the worker runs at a time.
    public struct QueueLimit: Sendable, Hashable {
        let count: Int

        /// At most `count` operations at a time, in this worker.
        public static func limit(_ count: Int) -> QueueLimit { QueueLimit(count: count) }
    }

    /// The options of a worker.
    public struct Configuration: Sendable {
        /// The name of the worker in reports. The default is empty.
        public var name = ""
        /// The time after the last heartbeat at which other workers may take the operations over. The default is 30 s.
        public var lease = Duration.seconds(30)
        /// The time for which a graceful shutdown waits for running operations. The default is 10 s.
        public var shutdownGrace = Duration.seconds(10)
        /// The longest time between two looks at the queues. The default is 1 s.
        public var idleInterval = Duration.seconds(1)
        /// The logger of the worker's own messages: registrations, lost leases, and a database that is away.
        ///
        /// If nil, a logger with the label `swift-operations-durable` receives warnings and errors only.
        public var logger: Logger?
        /// A closure that receives the local queue of each durable queue before the worker starts.
        ///
        /// Each attempt runs as an operation of the local queue. Logs, metrics, spans, stall reports and events of a local
        /// queue therefore describe the attempts: `{ $0.log(to: logger) }`. The context of an attempt is the context of the
        /// caller that added the operation, in any process.
        public var configureQueue: (@Sendable (OperationQueue) -> Void)?

        /// Creates the default options.
        public init() {}
    }

    private let engine: WorkerEngine

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - store: The store of the queues.
    ///   - queues: The queues, and the number of operations of each that run at a time.
    ///   - operations: The types of operations. The worker claims only operations of these names.
    ///   - configuration: Further options.
    /// - Throws: `DurableError.invalidValue` for a limit below 1, or an output type that cannot be stored.
    ///   `DurableError.invalidName` for a name that the store does not accept.
    public init(
        _ store: any DurableStore, queues: [String: QueueLimit], operations: [any DurableOperation.Type],
        configuration: Configuration = Configuration()
    ) throws {
        for (name, limit) in queues where limit.count < 1 {
            throw DurableError.invalidValue("the limit of queue '\(name)' is below 1")
        }
        guard configuration.lease > .zero else { throw DurableError.invalidValue("the lease is not above zero") }
        // A worker with an invalid name could never register.
        for name in queues.keys { try store.limits.checkName(name) }
        if !configuration.name.isEmpty { try store.limits.checkName(configuration.name) }
        var runners: [String: OperationRunner] = [:]
        for type in operations {
            let runner = try OperationRunner(type)
            try store.limits.checkName(runner.name)
            guard runners.updateValue(runner, forKey: runner.name) == nil else {
                throw DurableError.invalidValue("two types have the name '\(runner.name)'")
            }
        }
        engine = WorkerEngine(
            store, limits: queues.mapValues(\.count), runners: runners, configuration: configuration.withShortSleeps)
    }

    /// Runs operations until the task is cancelled or a graceful shutdown begins.
    ///
    /// The call does not end because the database is away. A graceful shutdown starts no operation, waits for running
    /// operations, and releases the others after `shutdownGrace`. A cancellation releases running operations at once.
    ///
    /// If the database is away, a worker that has released its operations waits at most `shutdownGrace` for the database.
    /// Operations whose ends are not stored run again when their leases have passed.
    ///
    /// Operations inherit the task-local values of the caller. A task-local value is therefore a way to pass systems to
    /// operations, which are stored values.
    ///
    /// - Throws: `DurableError.newerSchema` when a newer program excluded this version of the library from the database. The
    ///   attempts of the worker are cancelled, and other workers run the operations when the leases have passed.
    public func run() async throws {
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await engine.run()
            } onGracefulShutdown: { [engine] in
                engine.stop(isImmediate: false)
            }
        } onCancel: { [engine] in
            engine.stop(isImmediate: true)
        }
    }

    /// Begins a graceful shutdown without a service group.
    public func stop() { engine.stop(isImmediate: false) }
}

extension DurableWorker.Configuration {
    /// The configuration with times of at most 31 years. `Task.sleep` stops the process at much longer times.
    fileprivate var withShortSleeps: Self {
        let longest = Duration.seconds(1_000_000_000)
        var configuration = self
        configuration.lease = min(lease, longest)
        configuration.shutdownGrace = min(shutdownGrace, longest)
        configuration.idleInterval = min(idleInterval, longest)
        return configuration
    }
}
