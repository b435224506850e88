import Operations

let queue = OperationQueue()
let (upload, render) = (BlockOperation {}, BlockOperation {})
let isOnBattery = OperationCondition("on battery") { false }
let machine = ResourcePool(["memory": 8])
enum network { static let isReachable = true }
enum disk { static func free() async throws -> Int { 0 } }
struct DiskFull: Error {}
