import OpenCombine
import Operations
import OperationsCombine
import OperationsTesting

let queue = OperationQueue()
let (executor, clock) = (ManualExecutor(), VirtualClock())
nonisolated(unsafe) let publisher = PassthroughSubject<Int, Never>()
nonisolated(unsafe) let subject = PassthroughSubject<String, Never>()
