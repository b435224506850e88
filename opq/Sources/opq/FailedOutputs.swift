import Synchronization
import WorkflowEngine

/// The last part of the output of failed operations, for the report page.
final class FailedOutputs: Sendable {
    /// The number of bytes kept for each operation, and the largest number of operations.
    private static let (byteCount, operationCount) = (4096, 1000)

    private let outputs = Mutex<[String: String]>([:])

    /// The outputs by the names of the operations.
    var byName: [String: String] { outputs.withLock(\.self) }

    /// Stores the last part of the output if the event is the failure of an operation.
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
