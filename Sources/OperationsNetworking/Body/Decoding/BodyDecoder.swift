#if Networking
import HTTPCore
import HTTPTypes
import NIOCore

/// Undoes one coding of a body.
protocol ContentDecoder: AnyObject {
    /// Takes of the input what it can, and appends what comes of it, until there is no room in the output without making
    /// some.
    ///
    /// - Returns: Whether there may be more, also without more input.
    /// - Throws: `TransferFailure` for what is not coded so, and for what comes after the end.
    func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer) throws -> Bool

    /// The coding says that this is all.
    var isAtEnd: Bool { get }
}

extension ContentDecoder {
    /// Has a library read from the input and write where the output has room.
    ///
    /// - Parameter body: Answers how many bytes of either it has left.
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

    var hasMoreAfterEnd: TransferFailure { TransferFailure(.undecodableEncoding("there is more after its end")) }
}

/// The body of a response without its codings (rule R12), in portions of at most 64 KiB, however much one of those that
/// come inflates to. Used by one task at a time.
final class BodyDecoder {
    private struct Stage {
        let decoder: any ContentDecoder
        var input = ByteBuffer()
        /// It may go on without more input.
        var hasMore = false
        /// What has come of it.
        var yielded: Int64 = 0
    }

    private static let portion = 64 << 10
    /// Nobody compresses what is compressed more than once; who says so wants something else.
    private static let mostCodings = 3

    /// That of what comes first: the last one that the server has applied.
    private var stages: [Stage]
    private let limit: InflationLimit
    /// What the server has announced; 0 if nothing.
    private let length: Int64
    private var received: Int64 = 0

    /// Nil if the body is to be taken as it is: because it is, or because nobody here knows its codings.
    ///
    /// - Parameter length: Of what is sent; nil if the server does not say.
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

    /// What a request that leaves it to us says that it accepts.
    static let accepted = Brotli.shared == nil ? "gzip, deflate" : "gzip, deflate, br"

    private static func decoder(of coding: String) -> (any ContentDecoder)? {
        switch coding {
        case "gzip", "x-gzip": Inflater(.gzip)
        case "deflate": Inflater(.deflate)
        case "br": Brotli.shared.map(BrotliDecoder.init)
        default: nil
        }
    }

    /// More of the body has come; what was there before has been taken.
    func receive(_ bytes: ByteBuffer) {
        received += Int64(bytes.readableBytes)
        stages[0].input = bytes
    }

    /// What comes next of what was received; nil if there has to be more.
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
        // Also between two codings: what becomes much there may come to nothing.
        stages[index].yielded += Int64(output.readableBytes)
        // By what is announced, where that is more: else it would matter how the network has cut it.
        guard limit.permits(stages[index].yielded, from: max(received, length)) else {
            throw TransferFailure(.inflatesTooMuch)
        }
        return output
    }

    /// There is no more.
    ///
    /// - Throws: `TransferFailure`, if there should be. Nothing at all is nothing, coded or not.
    func finish() throws {
        guard received == 0 || stages.allSatisfy(\.decoder.isAtEnd) else {
            throw TransferFailure(.truncated(received: received, expected: nil))
        }
    }
}
#endif
