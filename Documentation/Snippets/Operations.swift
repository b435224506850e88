#if canImport(Glibc)
import Glibc
#endif
import Operations

class Downloader {
    func fetchAll() {}
    func fetch(from address: String) {}
}

let queue = OperationQueue()
let (upload, render) = (BlockOperation {}, BlockOperation {})
let (fetch, parse, store) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
let isOnline = OperationCondition("online") { true }
let isOnMeteredNetwork = OperationCondition("on a metered network") { false }
func fetch() async throws -> [UInt8] { [] }

struct Address: Sendable { let host = "" }
let addresses = [Address()]
func load(_ address: Address) async throws -> String { "" }
