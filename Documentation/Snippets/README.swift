import Operations

let queue = OperationQueue()
