import Operations

let network = Network()
let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
queue.setLimitPerKey(2)
let retry = RetryPolicy(retries: 3, backoff: .exponential(.milliseconds(20))) {
    $0 as? NetworkError == .busy
}

var (sizes, failures) = ([Int](), [String: Int]())
let results = queue.results(
    of: Network.pages, atMost: 32, limitKey: { $0.host }, timeout: .seconds(1),
    deadline: .now + .seconds(30), retry: retry
) { try await network.get($0) }
for await page in results {
    switch page.result {
    case .success(let size): sizes.append(size)
    case .failure(let error): failures["\(error)", default: 0] += 1
    }
}
print("\(sizes.count) pages")
for (error, count) in failures.sorted(by: <) { print("\(count) failed: \(error)") }
