// The network of the tutorial has no wires. All programs of the tutorial link to this file.

struct Page: Sendable {
    let host: String
    let number: Int
}

enum NetworkError: Error { case notFound, busy }

/// Four hosts. Pages 1 to 100 always answer. Of 101 to 200, some do not exist, and some are busy at
/// first. Page 201 hangs.
actor Network {
    static let pages = (1...201).map { Page(host: "host \($0 % 4)", number: $0) }

    private var (requests, open) = ([Int: Int](), [String: Int]())
    private(set) var (mostRequests, mostRequestsOfOneHost) = (0, 0)

    /// Returns the size of a page.
    func get(_ page: Page) async throws -> Int {
        requests[page.number, default: 0] += 1
        open[page.host, default: 0] += 1
        defer { open[page.host]! -= 1 }
        mostRequests = max(mostRequests, open.values.reduce(0, +))
        mostRequestsOfOneHost = max(mostRequestsOfOneHost, open[page.host]!)
        try await Task.sleep(for: page.number == 201 ? .seconds(3600) : .milliseconds(5))
        switch page.number % 10 {
        case 0 where page.number > 100: throw NetworkError.notFound
        case 3 where page.number > 100 && requests[page.number] == 1: throw NetworkError.busy
        default: return page.number * 10
        }
    }
}
