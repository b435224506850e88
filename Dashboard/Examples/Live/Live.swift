import Operations
import OperationsDashboard

#if Durable
import OperationsDurable
#endif

/// Queues to look at: `swift run Live [PORT]`. Options: `--waiting N`, `--steer`, `--token T`, `--stalled`, `--hostile`,
/// `--end-after SECONDS`, and with the trait `Durable` `--store PATH`.
@main
struct Live {
    static func main() async throws {
        let arguments = CommandLine.arguments
        func value(_ name: String) -> String? {
            arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
        }
        var configuration = Dashboard.Configuration()
        configuration.permitsSteering = arguments.contains("--steer")
        configuration.token = value("--token")
        let dashboard = Dashboard(configuration: configuration)

        let pages = OperationQueue(name: "pages", maxConcurrentOperationCount: 4)
        dashboard.add(pages)
        let waiting = value("--waiting").flatMap { Int($0) } ?? 0
        let many = OperationQueue(name: "many", maxConcurrentOperationCount: 1)
        if waiting > 0 {
            dashboard.add(many)
            many.addTask(name: "holds the only slot") { try await Task.sleep(for: .seconds(3600)) }
            for number in 0..<waiting { many.addOperation(name: "item \(number)") {} }
        }
        let stalled = OperationQueue(name: "stalled", maxConcurrentOperationCount: 2)
        if arguments.contains("--stalled") {
            dashboard.add(stalled)
            stalled.stallDelay = .zero
            let login = TaskOperation(name: "login") {}
            let page = stalled.addTask(name: "profile", after: [login]) {}
            stalled.addTask(name: "picture", after: [page]) {}
        }
        let hostile = OperationQueue(name: "<script>document.title='owned'</script>", maxConcurrentOperationCount: 1)
        if arguments.contains("--hostile") {
            dashboard.add(hostile)
            hostile.addTask(name: "<img src=x onerror=\"document.title='owned'\">") {
                try await Task.sleep(for: .seconds(3600))
            }
            hostile.addOperation(name: "</script><script>document.title='owned'</script>") {}
            hostile.addOperation(name: String(repeating: "long ", count: 2_000_000)) {}
            hostile.addOperation(name: "right \u{202E}to left\u{0} and \u{1B}[31m escapes") {}
        }
        #if Durable
        if let path = value("--store") { dashboard.add(try await Photos.open(path), name: "photos") }
        #endif
        let crawl = Task { try await Live.crawl(pages) }
        let port = arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        let serving = Task { try await dashboard.run(port: port) }
        if let seconds = value("--end-after").flatMap({ Double($0) }) {
            try await Task.sleep(for: .seconds(seconds))
            serving.cancel()
        }
        try await serving.value
        crawl.cancel()
    }

    /// Downloads of pretend pages, in rounds: each has a login, pages that need it, and a summary.
    static func crawl(_ queue: OperationQueue) async throws {
        struct Refused: Error, CustomStringConvertible { let description = "the server answered 503" }
        for round in 1... {
            let login = queue.addTask(name: "login \(round)") { try await Task.sleep(for: .milliseconds(300)) }
            let pages = (0..<12).map { number in
                queue.addTask(name: "page \(round).\(number)", after: [login]) {
                    try await Task.sleep(for: .milliseconds(150 + 70 * (number * 7 % 10)))
                    if (round + number) % 17 == 0 { throw Refused() }
                }
            }
            let summary = queue.addTask(name: "summary \(round)", after: pages) {
                try await Task.sleep(for: .milliseconds(200))
            }
            while queue.snapshot(measures: false).waiting > 16 { try await Task.sleep(for: .milliseconds(50)) }
            _ = summary
        }
    }
}
