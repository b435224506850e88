import Operations
import OperationsDashboard
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The cost of a dashboard for a queue of tiny blocks: without one, attached without a page, with an open page, and after the last
/// page was closed. The kinds take turns, each with a queue of its own, so that all of them see the same machine. `swift run -c release DashboardCosts [ROUNDS]`.
@main
struct DashboardCosts {
    static let count = 200_000

    static func main() async throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 41
        let kinds = ["no dashboard", "no page", "open page", "closed page"]
        let queues = kinds.map { _ in OperationQueue() }
        var running: [Task<Void, any Error>] = []
        var pages: [String: Page] = [:]
        for (kind, queue) in zip(kinds, queues) where kind != "no dashboard" {
            let (ports, found) = AsyncStream.makeStream(of: UInt16.self)
            var configuration = Dashboard.Configuration()
            configuration.token = "costs"
            configuration.onListen = { address in
                found.yield(UInt16(address.split(separator: ":")[2].prefix { $0 != "/" })!)
            }
            let dashboard = Dashboard(configuration: configuration)
            dashboard.add(queue)
            running.append(Task { try await dashboard.run(port: 0) })
            for await port in ports {
                if kind != "no page" { pages[kind] = Page(port) }
                break
            }
        }
        for page in pages.values { while page.frames == 0 { try await Task.sleep(for: .milliseconds(10)) } }
        pages["closed page"]?.close()
        // The server keeps the recordings for five seconds, because a page that loads again closes its stream, too.
        try await Task.sleep(for: .seconds(7))
        var times = kinds.map { _ in [Double]() }
        // The order changes with each round.
        for round in 0...rounds {
            for step in kinds.indices {
                let kind = (step + round) % kinds.count
                let time = run(queues[kind])
                if round > 0 { times[kind].append(time) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        for (kind, median) in zip(kinds, medians) {
            print("\(kind): \((median * 10).rounded() / 10) ns, \((median / medians[0] * 1000).rounded() / 1000)×")
        }
        print("frames of the page: \(pages["open page"]?.frames ?? 0)")
        running.forEach { $0.cancel() }
    }

    /// Returns nanoseconds for each block.
    static func run(_ queue: OperationQueue) -> Double {
        let begin = ContinuousClock.now
        for _ in 0..<count { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        let time = ContinuousClock.now - begin
        return (Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) * 1e-9) / Double(count)
    }
}

/// A page without a browser: it reads the stream, and requests the rows after each frame, on a thread of its own.
final class Page: Sendable {
    private let count = Atomic(0)
    private let stream = Atomic<Int32>(-1)
    var frames: Int { count.load(ordering: .relaxed) }

    init(_ port: UInt16) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Body { [self] in read(port) })
        pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
    }

    func close() { shutdown(stream.load(ordering: .relaxed), Int32(SHUT_RDWR)) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private func read(_ port: UInt16) {
        let (stream, rows) = (connect(port), connect(port))
        self.stream.store(stream, ordering: .relaxed)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        send("/api/events", to: stream)
        while true {
            let size = recv(stream, &bytes, bytes.count, 0)
            guard size > 0 else { return }
            guard bytes[..<size].suffix(2).elementsEqual([10, 10]) else { continue }
            count.wrappingAdd(1, ordering: .relaxed)
            send("/api/operations?source=s0", to: rows)
            guard recv(rows, &bytes, bytes.count, 0) > 0 else { return }
        }
    }

    private func send(_ path: String, to descriptor: Int32) {
        let text = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer costs\r\n\r\n".utf8)
        _ = write(descriptor, text, text.count)
    }

    private func connect(_ port: UInt16) -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port.bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #if canImport(Glibc)
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #elseif canImport(Musl)
                Musl.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #else
                Darwin.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                #endif
            }
        }
        return descriptor
    }
}
