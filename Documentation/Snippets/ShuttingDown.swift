import Dispatch
import Operations
#if canImport(Glibc)
import Glibc
#endif

let queue = OperationQueue()
