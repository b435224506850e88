import Operations

let queue = OperationQueue()
let urgent = BlockOperation {}
