import Operations
import OperationsFoundation

let network = Network()
let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
queue.setLimitPerKey(2)
let retry = RetryPolicy(retries: 3, backoff: .exponential(.milliseconds(20))) {
    $0 as? NetworkError == .busy
}

let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
interruption.setEventHandler { @Sendable in
    Task { await queue.shutDown(grace: .milliseconds(100)) }
}
interruption.activate()

var (sizes, failures) = ([Int](), [String: Int]())
let results = queue.results(
    of: Network.pages, atMost: 32, limitKey: { $0.host }, timeout: .seconds(1),
    deadline: .now + .seconds(30), retry: retry
) { try await network.get($0) }
for await page in results {
    switch page.result {
    case .success(let size): sizes.append(size)
    case .failure(OperationError.queueShutDown): failures["not begun", default: 0] += 1
    case .failure(let error): failures["\(error)", default: 0] += 1
    }
}
print("\(sizes.count) pages\(queue.isShutDown ? ", interrupted" : "")")
for (error, count) in failures.sorted(by: <) { print("\(count) failed: \(error)") }
