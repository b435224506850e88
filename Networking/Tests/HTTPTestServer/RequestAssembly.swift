import Crypto
import HTTPTypes
import NIOCore

/// A request whose body has not arrived completely.
struct RequestAssembly {
    enum Verdict: Equatable { case takesMore, tooLarge }

    private var request: LoopbackRequest
    private let limit: Int
    private let keepsBody: Bool
    private var digest = SHA256()

    /// - Parameters:
    ///   - limit: The maximum size of a body that the server keeps, in bytes.
    init(_ request: LoopbackRequest, limit: Int, keepsBody: Bool) {
        self.request = request
        self.limit = limit
        self.keepsBody = keepsBody
    }

    mutating func append(_ bytes: ByteBuffer) -> Verdict {
        request.bodyLength += Int64(bytes.readableBytes)
        bytes.withUnsafeReadableBytes { digest.update(bufferPointer: $0) }
        guard keepsBody else { return .takesMore }
        guard request.bodyLength <= Int64(limit) else { return .tooLarge }
        request.body.append(contentsOf: bytes.readableBytesView)
        return .takesMore
    }

    consuming func finish() -> LoopbackRequest {
        request.bodySHA256 = digest.finalize().hexadecimal
        return request
    }

    /// The request with the parts that have arrived.
    var head: LoopbackRequest { request }
}

extension Sequence<UInt8> {
    /// Two lowercase digits for each byte.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
