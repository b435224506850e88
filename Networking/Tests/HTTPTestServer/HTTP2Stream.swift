import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// A handler for a stream of an HTTP/2 connection. The handler collects the request and answers it. All methods run on
/// the event loop of the stream.
final class HTTP2Stream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private let core: ServerCore
    private let channel: any Channel
    private let writer: HTTP2Writer
    private let number: Int
    private var assembly: RequestAssembly?
    private var answering: Task<Void, Never>?

    init(_ core: ServerCore, _ channel: any Channel, _ transport: Transport, _ number: Int) {
        self.core = core
        self.channel = channel
        self.number = number
        writer = HTTP2Writer(channel: channel, transport: transport)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard answering == nil else { return }
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            if assembly == nil { begin(frame.headers) }
            if frame.endStream { arrive() }
        case .data(let frame):
            guard case .byteBuffer(let bytes) = frame.data else { return }
            if assembly?.append(bytes) == .tooLarge { return arrive(answer: .tooLarge) }
            if frame.endStream { arrive() }
        case .alternativeService, .goAway, .origin, .ping, .priority, .pushPromise, .rstStream, .settings,
            .windowUpdate:
            break
        }
    }

    private func begin(_ headers: HPACKHeaders) {
        let fields = HTTPFields(headers.lazy.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) })
        let assembly = core.assembly(
            HTTPRequest.Method(rawValue: headers.first(name: ":method") ?? "GET") ?? .get,
            headers.first(name: ":path") ?? "", headers.first(name: ":authority") ?? fields.first("Host"), fields,
            .http2, number)
        self.assembly = assembly
        if core.configuration.answersEarly(assembly.head) { arrive() }
    }

    private func arrive(answer verdict: LoopbackResponse? = nil) {
        guard let request = assembly.take()?.finish() else { return }
        answering = Task { [core, writer] in
            if let verdict {
                _ = await core.play(verdict, to: request, keepsConnection: true, writer)
            } else {
                _ = await core.answer(request, keepsConnection: true, to: writer)
            }
            core.ledger.requestEnded()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        answering?.cancel()
        if assembly.take() != nil { core.ledger.requestEnded() }
        context.fireChannelInactive()
    }

    /// Closes the stream after a reset of the stream or the end of the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
