import NIOCore
import NIOPosix
import TestSupport

/// A TCP connection that sends raw bytes, and records all received bytes and the end of the connection.
final class RawClient: Sendable {
    enum Ending: Sendable, Equatable {
        case closed
        case reset
    }

    private let channel: any Channel
    private let log: Guarded<Log>

    struct Log: Sendable {
        var bytes: [UInt8] = []
        var ending: Ending?
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private init(_ channel: any Channel, _ log: Guarded<Log>) {
        self.channel = channel
        self.log = log
    }

    static func connect(to port: Int, of host: String = "127.0.0.1") async throws -> RawClient {
        let log = Guarded(Log())
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(log))
                }
            }.connect(host: host, port: port).get()
        return RawClient(channel, log)
    }

    /// Sends a request and returns all received bytes at the end of the connection.
    static func exchange(_ request: String, port: Int) async throws -> Log {
        let client = try await connect(to: port)
        try await client.send(request)
        return await client.everything()
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    /// Suspends until `count` bytes have arrived or the connection has ended.
    @discardableResult
    func received(_ count: Int) async -> Log {
        await withCheckedContinuation { continuation in
            let isDone = log.withLock { log in
                if log.ending != nil || log.bytes.count >= count { return true }
                log.waiters.append((count, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
        return log.withLock { $0 }
    }

    func everything() async -> Log { await received(.max) }

    var text: String { log.withLock { $0.text } }

    /// Stops reading until `resumeReading()`.
    func pauseReading() async throws { try await channel.setOption(.autoRead, value: false).get() }
    func resumeReading() async throws { try await channel.setOption(.autoRead, value: true).get() }

    func close() async throws { try await channel.close() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let log: Guarded<Log>
        private var isReset = false

        init(_ log: Guarded<Log>) { self.log = log }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            resume { $0.bytes += Array(self.unwrapInboundIn(data).readableBytesView) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if (error as? IOError)?.errnoCode == ECONNRESET { isReset = true }
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            resume { $0.ending = self.isReset ? .reset : .closed }
        }

        private func resume(_ change: (inout Log) -> Void) {
            let done = log.withLock { log in
                change(&log)
                let done = log.waiters.filter { log.ending != nil || log.bytes.count >= $0.count }
                log.waiters.removeAll { log.ending != nil || log.bytes.count >= $0.count }
                return done
            }
            for waiter in done { waiter.continuation.resume() }
        }
    }
}
