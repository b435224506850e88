import NIOCore
import NIOHTTP1

/// A channel handler for connections to a proxy that forwards requests. async-http-client sends a path in the first line, and
/// the proxy needs the absolute form (RFC 9112, section 3.2.2).
final class ForwardingHead: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Adds a handler to a new connection, behind the encoder of requests.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let probe = try pipeline.handler(type: ConnectionProbe.self)
            try pipeline.addHandler(ForwardingHead(), position: .after(probe))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") else {
            return context.write(data, promise: promise)
        }
        head.uri = "http://\(host)\(head.uri)"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
