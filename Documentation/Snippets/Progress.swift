import Operations
import OperationsFoundation

let queue = OperationQueue()
let (importQueue, exportQueue) = (OperationQueue(), OperationQueue())
let (fetch, parse, store) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
let files = [""]
func importFile(_ number: Int) async throws {}
func index(_ file: String) {}
