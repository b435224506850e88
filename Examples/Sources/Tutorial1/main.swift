import Operations

let network = Network()
let queue = OperationQueue(name: "pages")
print(try await queue.run { try await network.get(Network.pages[6]) })
