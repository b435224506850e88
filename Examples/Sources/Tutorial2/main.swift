import Operations

let network = Network()
let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
let sizes = try await queue.map(Network.pages.prefix(100)) { try await network.get($0) }
print("\(sizes.count) pages, at most \(await network.mostRequests) requests at a time")
