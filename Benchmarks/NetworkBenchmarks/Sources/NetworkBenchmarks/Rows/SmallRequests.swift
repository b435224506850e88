import AsyncHTTPClient
import NIOCore
import HTTPTypes
import Operations
import OperationsNetworking

extension Row {
    static func smallRequests(_ scale: Scale) -> Row {
        let work = SmallRequests(count: scale.requests)
        let bars: [Bar] = [.within(percent: 10, of: .bare), .ahead(of: .curl), .ahead(of: .aria2c)]
        return Row(
            number: 1, question: "small requests",
            work: "\(work.count) GETs of \(Content.smallSize) bytes, \(SmallRequests.width) at a time",
            reference: .bare, measures: [.time, .processorTime],
            entries: [
                Entry(contender: .queue, bars: bars) { try await work.checked($0, work.queue) },
                Entry(contender: .operation, manner: "OperationQueue", bars: bars) {
                    try await work.checked($0, work.operations)
                },
                Entry(contender: .bare, manner: "task group") { try await work.checked($0, work.bare) },
                Entry(contender: .curl, manner: "--parallel") { try await work.checked($0, work.curl) },
                Entry(contender: .aria2c, manner: "-j\(SmallRequests.width)") {
                    try await work.checked($0, work.aria2c)
                },
            ])
    }
}

/// Requests for one small file under many addresses. Each repetition uses new connections and processes.
struct SmallRequests {
    static let width = 64

    let count: Int

    /// The received bytes, and the measurement.
    typealias Outcome = (bytes: Int, sample: Sample)

    func checked(_ site: Site, _ load: (Site) async throws -> Outcome) async throws -> Sample {
        let before = try await site.requestCount
        let outcome = try await load(site)
        // Reading the first count was a request too.
        let requests = try await site.requestCount - before - 1
        guard outcome.bytes == count * Content.smallSize else { throw WorkMissing("\(outcome.bytes) bytes arrived") }
        guard requests == count else { throw WorkMissing("\(requests) requests reached the server") }
        return outcome.sample
    }

    func address(_ index: Int, _ site: Site) -> String { "\(site.address)/small/\(index)" }

    static var session: HTTPSession {
        var configuration = HTTPSession.Configuration()
        configuration.connectionsPerHost = width
        return HTTPSession(configuration)
    }

    func queue(_ site: Site) async throws -> Outcome {
        let watch = Stopwatch()
        let client = try HTTPClientQueue(
            maxConcurrentRequests: Self.width, maxConcurrentRequestsPerHost: Self.width, session: Self.session)
        let tokens = (0..<count).map { client.get(address($0, site), as: .data) }
        var bytes = 0
        for token in tokens { bytes += try await token.value.count }
        return (bytes, watch.sample)
    }

    func operations(_ site: Site) async throws -> Outcome {
        let watch = Stopwatch()
        let session = Self.session
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = Self.width
        let operations = (0..<count).map { index in
            let operation = HTTPDataOperation(HTTPRequestDescription(.get, address(index, site)), session: session)
            queue.addOperation(operation)
            return operation
        }
        await queue.waitUntilAllOperationsAreFinished()
        var bytes = 0
        for operation in operations { bytes += try await operation.value.count }
        return (bytes, watch.sample)
    }

    func bare(_ site: Site) async throws -> Outcome {
        let watch = Stopwatch()
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.width
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
            var bytes = 0
            for index in 0..<count {
                if index >= Self.width { bytes += try await group.next() ?? 0 }
                group.addTask {
                    let request = HTTPClientRequest(url: address(index, site))
                    let response = try await client.execute(request, timeout: .seconds(10))
                    return try await response.body.collect(upTo: 64 << 20).readableBytes
                }
            }
            for try await more in group { bytes += more }
            return bytes
        }
        let sample = watch.sample
        try await client.shutdown()
        return (bytes, sample)
    }

    func curl(_ site: Site) async throws -> Outcome {
        let list = "\(site.folder)/curl.list"
        try write(list) { "url = \"\(address($0, site))\"\noutput = \"/dev/null\"\n" }
        let output = "\(site.folder)/curl.output"
        let arguments = [
            "--silent", "--fail", "--parallel", "--parallel-immediate", "--parallel-max", "\(Self.width)", "--config",
            list, "--write-out", "%{size_download}\\n",
        ]
        let run = try Contender.curl.installed().run(arguments, output: output)
        return (try Folder.text(of: output).split(separator: "\n").compactMap { Int($0) }.reduce(0, +), run.sample)
    }

    func aria2c(_ site: Site) async throws -> Outcome {
        let (list, folder) = ("\(site.folder)/aria2c.list", "\(site.folder)/aria2c")
        try write(list) { address($0, site) + "\n" }
        defer { Folder.remove(folder) }
        let arguments = [
            "--quiet", "--no-conf", "-j\(Self.width)", "--input-file", list, "--dir", folder,
            "--file-allocation=none",
        ]
        let run = try Contender.aria2c.installed().run(arguments, output: "\(site.folder)/aria2c.output")
        return (try Folder.byteCount(folder), run.sample)
    }

    private func write(_ path: String, _ line: (Int) -> String) throws {
        try Folder.write((0..<count).map(line).joined(), to: path)
    }
}
