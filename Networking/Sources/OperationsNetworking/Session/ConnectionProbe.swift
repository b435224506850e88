import NIOCore
import NIOHTTP1
import NIOHTTP2
import Operations

/// The record of one connection, used on the connection's event loop.
private final class ConnectionRecord: ChannelInboundHandler {
    // On an HTTP/2 connection this handler comes after the multiplexer, so no data reaches it.
    typealias InboundIn = Never

    let established: Duration
    var requests = 0

    init(established: Duration) { self.established = established }
}

/// The use of a connection for one exchange.
struct ConnectionUse: Sendable, Equatable {
    /// The number of earlier requests on the connection.
    let earlier: Int
    /// The time at which the connection was established, by the session's clock.
    let established: Duration

    /// A field name that no server can send.
    private static let name = ":connection-use"

    init(earlier: Int, established: Duration) {
        self.earlier = earlier
        self.established = established
    }

    /// Reads the note of a probe; nil if there is none.
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

/// An error for a reused connection that was closed, or that broke, before any part of the response arrived.
///
/// Usually the server closed the idle connection while the request was on its way.
struct StaleConnection: Error, CustomStringConvertible {
    let cause: (any Error)?

    var description: String { cause.map { "\($0)" } ?? "the connection was closed before the response" }
}

/// A channel handler in front of async-http-client, which does not report the connection of an exchange.
///
/// The probe notes the connection in the head of the response. The probe also replaces the error that ends a reused connection
/// with `StaleConnection`.
final class ConnectionProbe: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let connection: ConnectionRecord
    private var earlier = 0
    private var awaitsHead = false
    private var hasFinalHead = false
    private var isRefused = false

    private init(_ connection: ConnectionRecord) { self.connection = connection }

    // MARK: - Adding a probe

    /// Adds a probe to a new HTTP/1 connection.
    static func add(to channel: any Channel, established: Duration) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let probe = ConnectionProbe(ConnectionRecord(established: established))
            try pipeline.addHandler(probe, position: .after(decoder))
        }
    }

    /// Prepares a new HTTP/2 connection, whose streams come later.
    static func prepare(_ channel: any Channel, established: Duration) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionRecord(established: established))
        }
    }

    /// Adds a probe to a new stream of an HTTP/2 connection.
    static func add(toStream channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let connection = channel.parent else { return }
            let record = try connection.pipeline.syncOperations.handler(type: ConnectionRecord.self)
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            try pipeline.addHandler(StreamStatus(), position: .before(codec))
            try pipeline.addHandler(ConnectionProbe(record), position: .after(codec))
        }
    }

    // MARK: - Handling data

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        earlier = connection.requests
        connection.requests += 1
        (awaitsHead, hasFinalHead) = (true, false)
        RequestTarget.move(to: &head)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        guard case .head(var head) = unwrapInboundIn(data) else {
            return hasFinalHead ? context.fireChannelRead(data) : refuse(context)
        }
        guard head.status.code >= 100 else { return refuse(context) }
        (awaitsHead, hasFinalHead) = (false, head.status.code >= 200 || head.status == .switchingProtocols)
        ConnectionUse(earlier: earlier, established: connection.established).note(in: &head.headers)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// No response has a status below 100 (RFC 9110, section 15), or a body before its final head.
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isStale =
            switch error {
            // A part of the response arrived, though it is not valid HTTP.
            case is HTTPParserError: false
            // The server has not processed the stream. SwiftNIO reports a stream behind the last one of a GOAWAY as cancelled.
            case let error as NIOHTTP2Errors.StreamClosed where [.refusedStream, .cancel].contains(error.errorCode):
                awaitsHead
            default: isStale(context)
            }
        context.fireErrorCaught(isStale ? StaleConnection(cause: error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isStale(context) { context.fireErrorCaught(StaleConnection(cause: nil)) }
        context.fireChannelInactive()
    }

    /// Whether the error ends the connection. After the end of a single stream, the connection remains usable.
    private func isStale(_ context: ChannelHandlerContext) -> Bool {
        awaitsHead && earlier > 0 && context.channel.parent?.isActive != true
    }
}
