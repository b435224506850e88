import Operations

let network = Network()
let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
queue.setLimitPerKey(2)
let sizes = try await queue.map(Network.pages.prefix(100), limitKey: { $0.host }) {
    try await network.get($0)
}
let (most, mostOfOneHost) = (await network.mostRequests, await network.mostRequestsOfOneHost)
print("\(sizes.count) pages, at most \(most) requests at a time, and \(mostOfOneHost) of one host")
