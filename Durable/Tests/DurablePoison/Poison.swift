import Foundation
package import OperationsDurable

/// Ends its process.
package struct Poison: DurableOperation {
    package static let name = "poison"
    /// `kill`, `trap` or `memory`.
    package var cause: String

    package init(cause: String) { self.cause = cause }

    package func run(_ context: DurableContext) async throws {
        // The operations of the same claim have started.
        try await Task.sleep(for: .milliseconds(5))
        switch cause {
        case "trap": fatalError("a trap")
        case "memory":
            var limit = rlimit(rlim_cur: 1 << 33, rlim_max: 1 << 33)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            var blocks: [UnsafeMutableRawPointer] = []
            // An allocation of Swift that fails ends the process.
            while true { blocks.append(UnsafeMutableRawPointer.allocate(byteCount: 1 << 30, alignment: 16)) }
        default: kill(getpid(), SIGKILL)
        }
    }
}
