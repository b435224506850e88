import Synchronization
import WorkflowEngine

/// The last of what failed operations printed, for the page with the timeline.
final class FailedOutputs: Sendable {
    /// How much of each operation is kept, and of how many.
    private static let (byteCount, operationCount) = (4096, 1000)

    private let outputs = Mutex<[String: String]>([:])

    /// What each printed, by its name.
    var byName: [String: String] { outputs.withLock(\.self) }

    /// Keeps the output of an operation that failed.
    func note(_ event: RunEvent) {
        guard case .ended(let conclusion, let spool?) = event, case .failed = conclusion.outcome,
            let bytes = try? spool.tail(byteCount: Self.byteCount)
        else { return }
        let text = (bytes.count == Self.byteCount ? "…" : "") + String(decoding: bytes, as: UTF8.self)
        outputs.withLock { outputs in
            if outputs.count < Self.operationCount { outputs[conclusion.name] = text.visibleLines }
        }
    }
}
