import Operations
import OperationsTesting

let queue = OperationQueue()
let clock = VirtualClock()
