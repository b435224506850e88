import Dispatch
import Operations
import Synchronization

let queue = OperationQueue()
let show = BlockOperation {}
let (page, number) = ("", 1)
func checksum(_ page: String) -> Int { 0 }
func download(_ number: Int) async throws -> String { "" }
func work() async {}
