import Operations
import Testing

struct NotFound: Error, Equatable {}
enum LoadError: Error { case notFound }

let queue = OperationQueue()
let (operation, other) = (BlockOperation {}, BlockOperation {})
let load = BlockOperation {}
let (clean, show, report) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
func readFile() throws {}
