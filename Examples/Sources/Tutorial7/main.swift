import Operations
import OperationsFoundation
import OperationsTimeline

let network = Network()
let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
queue.setLimitPerKey(2)
queue.longRunningDelay = .milliseconds(800)
let retry = RetryPolicy(retries: 3, backoff: .exponential(.milliseconds(20))) {
    $0 as? NetworkError == .busy
}

// Control-C ends the crawler, Control-\ prints the state of all queues.
let interruption = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
interruption.setEventHandler { @Sendable in
    Task { await queue.shutDown(grace: .milliseconds(100)) }
}
interruption.activate()
OperationQueue.printExplanations(onSignal: SIGQUIT)

// `swift run Crawler timeline.html` writes a page for a browser.
let timeline = OperationTimeline()
timeline.record(queue)

// A line of progress each half of a second.
let progress = Task {
    while (try? await Task.sleep(for: .milliseconds(500))) != nil { print(queue.snapshot()) }
}

var (sizes, failures) = ([Int](), [String: Int]())
let results = queue.results(
    of: Network.pages, atMost: 32, name: { "page \($0.number)" }, limitKey: { $0.host },
    timeout: .seconds(1), deadline: .now + .seconds(30), retry: retry
) { try await network.get($0) }
for await page in results {
    switch page.result {
    case .success(let size): sizes.append(size)
    case .failure(OperationError.queueShutDown): failures["not begun", default: 0] += 1
    case .failure(let error): failures["\(error)", default: 0] += 1
    }
}
progress.cancel()
print("\(sizes.count) pages\(queue.isShutDown ? ", interrupted" : "")")
for (error, count) in failures.sorted(by: <) { print("\(count) failed: \(error)") }
if let file = CommandLine.arguments.dropFirst().first {
    try timeline.htmlTimeline(title: "Crawler").write(toFile: file, atomically: true, encoding: .utf8)
}
