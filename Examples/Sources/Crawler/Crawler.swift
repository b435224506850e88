// A crawler: at most eight requests at a time, two for each host, three attempts, a time limit for each page and for all of them.

import Operations
import OperationsFoundation
import OperationsTimeline

struct Page: Sendable {
    let host: String
    let number: Int
    var name: String { "\(host)/\(number)" }
}

enum NetworkError: Error { case notFound, unavailable }

/// A network without wires. Each page takes a few milliseconds, some fail once, some do not exist.
actor Network {
    private var attempts: [String: Int] = [:]

    func get(_ page: Page) async throws -> Int {
        attempts[page.name, default: 0] += 1
        try await Task.sleep(for: .milliseconds(1 + page.number % 4))
        if page.number % 83 == 0 { throw NetworkError.notFound }
        if page.number % 10 == 3, attempts[page.name] == 1 { throw NetworkError.unavailable }
        return page.number * 10
    }
}

@main struct Crawler {
    static func main() async {
        let network = Network()
        let pages = (1...500).map { Page(host: "host \($0 % 5)", number: $0) }
        let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 8)
        queue.setLimitPerKey(2)
        let timeline = OperationTimeline()
        timeline.record(queue)
        let retry = RetryPolicy(retries: 2, backoff: .exponential(.milliseconds(2))) {
            $0 as? NetworkError == .unavailable
        }

        var (sizes, failures) = ([Int](), [String: Int]())
        let results = queue.results(
            of: pages, atMost: 32, name: \.name, limitKey: \.host, timeout: .seconds(5), deadline: .now + .seconds(30),
            retry: retry
        ) { try await network.get($0) }
        for await page in results {
            switch page.result {
            case .success(let size): sizes.append(size)
            case .failure(let error): failures["\(error)", default: 0] += 1
            }
        }
        print("\(sizes.count) pages, failures: \(failures)")
        print(queue.snapshot())
        precondition(sizes.count == 494 && failures == ["notFound": 6])
        // `swift run Crawler timeline.html` writes the timeline.
        if let file = CommandLine.arguments.dropFirst().first {
            try? timeline.htmlTimeline(title: "Crawler").write(toFile: file, atomically: true, encoding: .utf8)
        }
    }
}
