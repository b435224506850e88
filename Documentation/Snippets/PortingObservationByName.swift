import Operations

let operation = BlockOperation {}
