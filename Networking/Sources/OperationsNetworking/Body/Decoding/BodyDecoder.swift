import HTTPCore
import HTTPTypes
import NIOCore

/// A decoder of one content coding.
protocol ContentDecoder: AnyObject {
    /// Decodes input and appends to the output, without growing the output.
    ///
    /// - Returns: Whether more output may follow without more input.
    /// - Throws: `TransferFailure` for invalid input, and for input after the end.
    func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer) throws -> Bool

    /// Whether the coded data has ended.
    var isAtEnd: Bool { get }
}

extension ContentDecoder {
    /// Calls a library function that reads the input and writes to the free part of the output.
    ///
    /// - Parameter body: Returns the number of bytes left in the input and in the output.
    func step(
        _ input: inout ByteBuffer, _ output: inout ByteBuffer,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> (input: Int, output: Int)
    ) {
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: output.writableBytes) { room in
            let room = room.assumingMemoryBound(to: UInt8.self)
            var left = (input: 0, output: 0)
            input.readWithUnsafeReadableBytes { bytes in
                let bytes = bytes.assumingMemoryBound(to: UInt8.self)
                left = body(bytes, room)
                return bytes.count - left.input
            }
            return room.count - left.output
        }
    }

    var hasMoreAfterEnd: TransferFailure { TransferFailure(.undecodableEncoding("data follows the compressed body")) }
}

/// The body of a response with its content codings removed. Each portion has at most 64 KiB, however much the input inflates
/// to. Used by one task at a time.
final class BodyDecoder {
    private struct Stage {
        let decoder: any ContentDecoder
        var input = ByteBuffer()
        /// Whether output may follow without more input.
        var hasMore = false
        /// The number of bytes of output so far.
        var yielded: Int64 = 0
    }

    private static let portion = 64 << 10
    /// The maximum number of codings. Servers rarely apply more than one, so a longer list is suspicious.
    private static let mostCodings = 3

    /// The stages, beginning with the coding that the server applied last.
    private var stages: [Stage]
    private let limit: InflationLimit
    /// The announced length; 0 if the server stated none.
    private let length: Int64
    private var received: Int64 = 0

    /// Creates the decoder of a response. Returns nil if the body must be delivered as it is: it has no coding, or an
    /// unsupported one.
    ///
    /// - Parameter length: The length of the compressed body; nil if the server does not state it.
    init?(for head: HTTPResponse, length: Int64?, _ limit: InflationLimit) {
        let codings = head.headerFields.contentCodings
        guard 1...Self.mostCodings ~= codings.count else { return nil }
        var stages: [Stage] = []
        for coding in codings.reversed() {
            guard let decoder = Self.decoder(of: coding) else { return nil }
            stages.append(Stage(decoder: decoder))
        }
        self.stages = stages
        self.limit = limit
        self.length = length ?? 0
    }

    /// The default `Accept-Encoding` of requests.
    static let accepted = Brotli.shared == nil ? "gzip, deflate" : "gzip, deflate, br"

    private static func decoder(of coding: String) -> (any ContentDecoder)? {
        switch coding {
        case "gzip", "x-gzip": Inflater(.gzip)
        case "deflate": Inflater(.deflate)
        case "br": Brotli.shared.map(BrotliDecoder.init)
        default: nil
        }
    }

    /// Adds input. The caller has taken all output of the previous input.
    func receive(_ bytes: ByteBuffer) {
        received += Int64(bytes.readableBytes)
        stages[0].input = bytes
    }

    /// Returns the next output; nil if more input is needed.
    func next() throws -> ByteBuffer? { try next(of: stages.count - 1) }

    private func next(of index: Int) throws -> ByteBuffer? {
        var output = ByteBuffer()
        output.reserveCapacity(Self.portion)
        while output.readableBytes == 0 {
            if stages[index].input.readableBytes == 0, !stages[index].hasMore {
                guard index > 0, let input = try next(of: index - 1) else { return nil }
                stages[index].input = input
            }
            stages[index].hasMore = try stages[index].decoder.decode(&stages[index].input, into: &output)
        }
        // Checked after every stage: a large intermediate result may shrink again in the next stage.
        stages[index].yielded += Int64(output.readableBytes)
        // The announced length counts if it is larger. Otherwise the result would depend on the size of network packets.
        guard limit.permits(stages[index].yielded, from: max(received, length)) else {
            throw TransferFailure(.decompressionLimitExceeded)
        }
        return output
    }

    /// Ends the input.
    ///
    /// - Throws: `TransferFailure`, if the coded data has not ended. An empty body is valid.
    func finish() throws {
        guard received == 0 || stages.allSatisfy(\.decoder.isAtEnd) else {
            throw TransferFailure(.truncated(received: received, expected: nil))
        }
    }
}
