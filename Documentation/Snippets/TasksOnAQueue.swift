import Operations

let queue = OperationQueue()
let (file, files) = ("", [""])
func index(_ file: String) async {}
