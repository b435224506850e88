#if Networking
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Operations

/// What is known of one connection; on its event loop.
private final class ConnectionRecord: ChannelInboundHandler {
    // Nothing comes by: of a connection of HTTP/2 it stands behind what parts the streams.
    typealias InboundIn = Never

    let established: Duration
    var requests = 0

    init(established: Duration) { self.established = established }
}

/// The use of a connection for one exchange.
struct ConnectionUse: Sendable, Equatable {
    /// How many requests it had taken before.
    let earlier: Int
    /// By the session's clock.
    let established: Duration

    /// No server can send a field of this name.
    private static let name = ":connection-use"

    init(earlier: Int, established: Duration) {
        self.earlier = earlier
        self.established = established
    }

    /// What a probe has noted; nil if there was none.
    init?(notedIn headers: HTTPHeaders) {
        guard let field = headers.reversed().first, field.name == Self.name else { return nil }
        let parts = field.value.split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        self.init(earlier: Int(parts[0]), established: .nanoseconds(parts[1]))
    }

    func note(in headers: inout HTTPHeaders) {
        headers.add(name: Self.name, value: "\(earlier) \(Int64(clamping: established.wholeNanoseconds))")
    }
}

/// A server has closed a connection that had been used before, or it broke, before anything came of the answer. As a rule it
/// was closed while nobody used it, and the request was under way already.
struct StaleConnection: Error, CustomStringConvertible {
    let cause: (any Error)?

    var description: String { cause.map { "\($0)" } ?? "the connection was closed before the answer" }
}

/// Sits in front of async-http-client, which tells nobody by which connection an exchange goes: notes it in the head of the
/// answer, and makes an error of its own of what ends a connection that had been used before.
final class ConnectionProbe: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let connection: ConnectionRecord
    private var earlier = 0
    private var awaitsHead = false

    private init(_ connection: ConnectionRecord) { self.connection = connection }

    // MARK: - Putting it there

    /// To a new connection of HTTP/1.
    static func add(to channel: any Channel, established: Duration) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let probe = ConnectionProbe(ConnectionRecord(established: established))
            try pipeline.addHandler(probe, position: .after(decoder))
        }
    }

    /// To a new connection of HTTP/2, whose streams come later.
    static func prepare(_ channel: any Channel, established: Duration) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionRecord(established: established))
        }
    }

    static func add(toStream channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let connection = channel.parent else { return }
            let record = try connection.pipeline.syncOperations.handler(type: ConnectionRecord.self)
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            try pipeline.addHandler(ConnectionProbe(record), position: .after(codec))
        }
    }

    // MARK: - What goes by

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) {
            earlier = connection.requests
            connection.requests += 1
            awaitsHead = true
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        awaitsHead = false
        ConnectionUse(earlier: earlier, established: connection.established).note(in: &head.headers)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isStale =
            switch error {
            // Something has come of the answer, though it is none.
            case is HTTPParserError: false
            case let error as NIOHTTP2Errors.StreamClosed where error.errorCode == .refusedStream: isUsed
            default: isStale(context)
            }
        context.fireErrorCaught(isStale ? StaleConnection(cause: error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isStale(context) { context.fireErrorCaught(StaleConnection(cause: nil)) }
        context.fireChannelInactive()
    }

    private var isUsed: Bool { awaitsHead && earlier > 0 }

    /// Of a stream that ends by itself the connection is as good as before.
    private func isStale(_ context: ChannelHandlerContext) -> Bool {
        isUsed && context.channel.parent?.isActive != true
    }
}
#endif
