import Operations
import OperationsTesting
import Synchronization
import Testing

final class Counted: Sendable { let counter = Mutex(0) }
struct Lost: Error {}
struct Unreachable: Error {}

let (executor, clock) = (ManualExecutor(), VirtualClock())
let queue = executor.makeQueue()
let operation = BlockOperation {}
let policy = RetryPolicy(retries: 1)
func fetch() async throws {}
