#if Networking
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import NIOCore

/// A connection below TLS, for what TLS would not let happen.
struct Transport: Sendable {
    let channel: any Channel
    let handler: NIOLoopBound<Handler>

    /// Called on the channel's event loop.
    init(_ channel: any Channel) {
        self.channel = channel
        handler = NIOLoopBound(Handler(), eventLoop: channel.eventLoop)
    }

    /// Ends the connection at once, without a word of TLS.
    func hangUp() {
        channel.eventLoop.execute { handler.value.close() }
    }

    /// Ends the connection with a reset.
    func reset() async throws {
        // With a linger time of zero, close() throws away what is not sent yet and sends RST instead of FIN.
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        hangUp()
        try? await channel.closeFuture.get()
    }

    /// Stands first in the pipeline, so that its context closes the socket itself.
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
#endif
