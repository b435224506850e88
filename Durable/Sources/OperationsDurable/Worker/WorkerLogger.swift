import DurableCore
import Logging

/// The reports of a worker.
struct WorkerLogger: Sendable {
    private static let standard = Logger(label: "swift-operations-durable")

    private let logger: Logger?

    /// - Parameter logger: The logger of the configuration; nil if the configuration has none.
    init(_ logger: Logger?) { self.logger = logger }

    func log(
        _ level: Logger.Level, _ message: Logger.Message, _ worker: WorkerID? = nil, _ metadata: Logger.Metadata = [:]
    ) {
        // A database that is away, absent or corrupt is never silent.
        guard let logger = logger ?? (level >= .warning ? Self.standard : nil) else { return }
        var metadata = metadata
        if let worker { metadata["worker"] = "\(worker)" }
        logger.log(level: level, message, metadata: metadata)
    }
}
