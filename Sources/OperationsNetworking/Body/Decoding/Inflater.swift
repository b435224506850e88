#if Networking
import CZlib
import NIOCore

/// gzip and deflate, by zlib.
final class Inflater: ContentDecoder {
    enum Format {
        /// One member after the other (RFC 1952).
        case gzip
        /// As RFC 9110 has it, within zlib's format; or bare, as some servers send it.
        case deflate
    }

    private enum Phase {
        /// The first byte tells which of two formats it is.
        case atStart
        case inflating
        /// Of a member, at least.
        case atEnd
    }

    private let format: Format
    private var phase = Phase.atStart
    /// Where zlib has found it first: it refuses one that has been moved.
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

    var isAtEnd: Bool { phase == .atEnd }

    func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer) throws -> Bool {
        guard try isReady(for: input) else { return false }
        var status = Z_OK
        step(&input, &output) { bytes, room in
            // Not written to; zlib's header does not say so.
            let input = UnsafeMutablePointer(mutating: bytes.baseAddress)
            (stream.pointee.next_in, stream.pointee.avail_in) = (input, uInt(bytes.count))
            (stream.pointee.next_out, stream.pointee.avail_out) = (room.baseAddress, uInt(room.count))
            status = inflate(stream, Z_NO_FLUSH)
            return (Int(stream.pointee.avail_in), Int(stream.pointee.avail_out))
        }
        switch status {
        // That it could do nothing with what there was is no error.
        case Z_OK, Z_BUF_ERROR: return stream.pointee.avail_out == 0
        case Z_STREAM_END:
            phase = .atEnd
            return false
        default:
            let message = stream.pointee.msg.map { String(cString: $0) } ?? "zlib's error \(status)"
            throw TransferFailure(.undecodableEncoding(message))
        }
    }

    /// False: there has to be some input first.
    private func isReady(for input: ByteBuffer) throws -> Bool {
        if phase == .inflating { return true }
        guard let first = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return false }
        switch (phase, format) {
        case (.atStart, .gzip): try open(windowBits: 15 + 16)
        // Of zlib's format it says "deflate", and a window of at most 32 KiB. No bare one begins so.
        case (.atStart, .deflate): try open(windowBits: first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15)
        // What follows has to be a member.
        case (_, .gzip) where first == 0x1F: inflateReset(stream)
        default: throw hasMoreAfterEnd
        }
        phase = .inflating
        return true
    }

    private func open(windowBits: Int32) throws {
        let status = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw TransferFailure(.undecodableEncoding("zlib's error \(status)")) }
        isOpen = true
    }
}
#endif
