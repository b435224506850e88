import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// A channel handler in front of the codec of an HTTP/2 stream. It refuses heads whose status is not a number of three digits
/// (RFC 9110, section 15).
final class StreamStatus: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isRefused = false

    static func isValid(_ status: String) -> Bool {
        status.utf8.count == 3 && status.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        guard case .headers(let content) = unwrapInboundIn(data),
            let status = content.headers.first(name: ":status"), !Self.isValid(status)
        else { return context.fireChannelRead(data) }
        isRefused = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
    }
}
