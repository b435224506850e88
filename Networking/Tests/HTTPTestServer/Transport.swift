#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import NIOCore

/// The part of a connection below TLS, for faults that TLS would prevent.
struct Transport: Sendable {
    let channel: any Channel
    let handler: NIOLoopBound<Handler>

    /// The caller must be on the channel's event loop.
    init(_ channel: any Channel) {
        self.channel = channel
        handler = NIOLoopBound(Handler(), eventLoop: channel.eventLoop)
    }

    /// Closes the connection immediately, without a message of TLS.
    func hangUp() {
        channel.eventLoop.execute { handler.value.close() }
    }

    /// Closes the connection with a reset.
    func reset() async throws {
        // With a linger time of zero, close() discards unsent bytes and sends RST in place of FIN.
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        hangUp()
        try? await channel.closeFuture.get()
    }

    /// The first handler of the pipeline. The context of this handler closes the socket without the handlers of TLS.
    final class Handler: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func close() {
            guard let context else { return }
            context.close(promise: nil)
        }
    }
}
