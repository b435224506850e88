import CZlib
import NIOCore

/// A decoder of gzip and deflate that uses zlib.
final class Inflater: ContentDecoder {
    enum Format {
        /// A sequence of members (RFC 1952), and zeros after the last member, which some programs add as padding.
        case gzip
        /// The zlib format, as RFC 9110 requires, or raw deflate data, as some servers send it.
        case deflate
    }

    private enum Phase {
        /// The first byte distinguishes the two formats of deflate.
        case atStart
        case inflating
        /// The end of a member. Another member may follow.
        case atEnd
        /// The zeros after the last member. Only zeros may follow.
        case padding
    }

    private let format: Format
    private var phase = Phase.atStart
    /// Allocated once: zlib refuses a stream that has moved in memory.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var isOpen = false

    init(_ format: Format) {
        self.format = format
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    var isAtEnd: Bool { phase == .atEnd || phase == .padding }

    func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer) throws -> Bool {
        guard try isReady(for: &input) else { return false }
        var status = Z_OK
        step(&input, &output) { bytes, room in
            // zlib does not write to the input, though its header does not declare the input as constant.
            let input = UnsafeMutablePointer(mutating: bytes.baseAddress)
            (stream.pointee.next_in, stream.pointee.avail_in) = (input, uInt(bytes.count))
            (stream.pointee.next_out, stream.pointee.avail_out) = (room.baseAddress, uInt(room.count))
            status = inflate(stream, Z_NO_FLUSH)
            return (Int(stream.pointee.avail_in), Int(stream.pointee.avail_out))
        }
        switch status {
        // `Z_BUF_ERROR` means no progress with the present buffers, which is not an error.
        case Z_OK, Z_BUF_ERROR: return stream.pointee.avail_out == 0
        case Z_STREAM_END:
            phase = .atEnd
            return false
        default:
            let message = stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)"
            throw TransferFailure(.undecodableEncoding(message))
        }
    }

    /// Prepares zlib for the input. Returns false if the first byte is missing.
    private func isReady(for input: inout ByteBuffer) throws -> Bool {
        if phase == .inflating { return true }
        if format == .gzip, isAtEnd { skipPadding(&input) }
        guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return false }
        switch (phase, format) {
        case (.atStart, .gzip): try open(windowBits: 15 + 16)
        // A zlib header states "deflate" and a window of at most 32 KiB. No raw deflate data begins with these bits.
        case (.atStart, .deflate): try open(windowBits: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15)
        case (.atEnd, .gzip) where first == 0x1F: inflateReset(stream)
        default: throw hasMoreAfterEnd
        }
        phase = .inflating
        return true
    }

    private func skipPadding(_ input: inout ByteBuffer) {
        let zeros = input.readableBytesView.prefix { $0 == 0 }.count
        guard zeros > 0 else { return }
        input.moveReaderIndex(forwardBy: zeros)
        phase = .padding
    }

    private func open(windowBits: Int32) throws {
        let status = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw TransferFailure(.undecodableEncoding("zlib error \(status)")) }
        isOpen = true
    }
}
