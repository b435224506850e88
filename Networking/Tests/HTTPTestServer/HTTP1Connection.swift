import HTTPTypes
import NIOCore
import NIOHTTP1

/// A handler for an HTTP/1.1 connection. The handler collects requests and answers them one after the other. All
/// methods run on the event loop of the connection.
final class HTTP1Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private struct Arrived {
        let request: LoopbackRequest
        let keepsConnection: Bool
        /// Whether the client may still send bytes of the request that the server has not read.
        let isUnread: Bool
        /// The response that replaces the handler's response.
        var verdict: LoopbackResponse?
    }

    private static let mostWaiting = 1000

    private let core: ServerCore
    private let transport: Transport
    private let writer: HTTP1Writer
    private let channel: any Channel
    private let number: Int
    private var assembly: RequestAssembly?
    private var keepsConnection = true
    private var waiting = CircularBuffer<Arrived>()
    private var answering: Task<Void, Never>?
    private var reading: Task<Void, Never>?
    /// Whether the connection is about to end, so that the handler discards further input.
    private var isDeaf = false

    init(_ core: ServerCore, _ channel: any Channel, _ transport: Transport, _ number: Int) {
        self.core = core
        self.channel = channel
        self.number = number
        self.transport = transport
        writer = HTTP1Writer(channel: channel, transport: transport)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDeaf else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let bytes):
            if assembly?.append(bytes) == .tooLarge { arrive(answer: .tooLarge) }
        case .end: if assembly != nil { arrive() }
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let fields = HTTPFields(head.headers.map { ($0.name, $0.value) })
        let assembly = core.assembly(
            HTTPRequest.Method(head.method), head.uri, fields.first("Host"), fields, .http1,
            number)
        self.assembly = assembly
        keepsConnection = head.isKeepAlive
        if core.configuration.answersEarly(assembly.head) {
            keepsConnection = false
            return arrive(isEarly: true)
        }
        if let gate = core.configuration.readsBodyAfter(assembly.head) { hold(gate) }
        if fields.first("Expect")?.lowercased() == "100-continue" {
            context.writeAndFlush(
                NIOAny(HTTP1Encoding.interim(HTTPResponse(status: .continue))), promise: nil)
        }
    }

    /// Stops reading until the gate opens.
    private func hold(_ gate: LoopbackGate) {
        let channel = channel
        channel.setOption(.autoRead, value: false).whenComplete { _ in }
        reading = Task {
            guard (try? await gate.pass()) != nil else { return }
            try? await channel.setOption(.autoRead, value: true).get()
        }
    }

    /// Queues the current request for an answer, complete or not.
    private func arrive(isEarly: Bool = false, answer verdict: LoopbackResponse? = nil) {
        guard let assembly = assembly.take() else { return }
        isDeaf = isEarly || verdict != nil
        waiting.append(
            Arrived(
                request: assembly.finish(), keepsConnection: keepsConnection && !isDeaf, isUnread: isDeaf,
                verdict: verdict))
        // A client that sends this many requests without waiting for answers is faulty.
        if waiting.count > Self.mostWaiting { return transport.hangUp() }
        answerNext()
    }

    private func answerNext() {
        guard answering == nil, let next = waiting.popFirst() else { return }
        let this = NIOLoopBound(self, eventLoop: channel.eventLoop)
        var writer = writer
        writer.lingers = next.isUnread
        answering = Task { [core, writer, channel] in
            let mayContinue =
                if let verdict = next.verdict {
                    await core.play(verdict, to: next.request, keepsConnection: false, writer)
                } else {
                    await core.answer(next.request, keepsConnection: next.keepsConnection, to: writer)
                }
            core.ledger.requestEnded()
            channel.eventLoop.execute { this.value.answered(mayContinue) }
        }
    }

    private func answered(_ mayContinue: Bool) {
        answering = nil
        if mayContinue { return answerNext() }
        isDeaf = true
    }

    func channelInactive(context: ChannelHandlerContext) {
        answering?.cancel()
        reading?.cancel()
        // The queued requests never get an answer. The request in progress ends in its task.
        for _ in waiting { core.ledger.requestEnded() }
        waiting.removeAll()
        if assembly.take() != nil { core.ledger.requestEnded() }
        isDeaf = true
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, !isDeaf else { return context.close(promise: nil) }
        if assembly == nil { assembly = core.assembly(.get, "", nil, [:], .http1, number) }
        arrive(answer: .badRequest)
    }
}

extension HTTPRequest.Method {
    /// Creates the method of a request as it was sent. SwiftNIO spells one method without its hyphen.
    init(_ method: HTTPMethod) {
        self = HTTPRequest.Method(rawValue: method == .MSEARCH ? "M-SEARCH" : method.rawValue) ?? .get
    }
}
