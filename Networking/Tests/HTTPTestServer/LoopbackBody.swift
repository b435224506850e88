#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import NIOCore

/// The body of a response: bytes, a pattern that the server generates while it sends, or a part of a file. The length
/// is always known.
public struct LoopbackBody: Sendable {
    enum Source: Sendable {
        case bytes(ByteBuffer)
        /// A repeated unit and the unit's length. The buffer is long enough for a chunk that begins anywhere in the
        /// unit.
        case pattern(ByteBuffer, unit: Int)
        case file(FileDescriptor)
    }

    /// The maximum number of bytes in memory at a time.
    static let chunkSize: Int64 = 65536

    let source: Source
    private let start: Int64
    /// The length in bytes.
    public let length: Int64

    private init(_ source: Source, start: Int64 = 0, length: Int64) {
        self.source = source
        self.start = start
        self.length = length
    }

    /// A body without bytes.
    public static let empty = LoopbackBody.bytes([])

    /// Returns a body with the given bytes.
    public static func bytes(_ bytes: some Sequence<UInt8>) -> LoopbackBody {
        let buffer = ByteBuffer(bytes: bytes)
        return LoopbackBody(.bytes(buffer), length: Int64(buffer.readableBytes))
    }

    /// Returns a body with the text in UTF-8.
    public static func text(_ text: String) -> LoopbackBody { .bytes(text.utf8) }

    /// Returns a body of `length` bytes that repeats a unit. Only one chunk is in memory, for any length.
    ///
    /// The default unit has 251 bytes. No power of two is a multiple of 251, so that a test detects a misplaced part.
    public static func pattern(_ unit: [UInt8] = Array(0..<251), length: Int64) -> LoopbackBody {
        guard !unit.isEmpty, length > 0 else { return .empty }
        var buffer = ByteBuffer()
        while buffer.readableBytes < Int(chunkSize) + unit.count { buffer.writeBytes(unit) }
        return LoopbackBody(.pattern(buffer, unit: unit.count), length: length)
    }

    /// Returns a body that the server reads from a file while it sends. The body ends at the current length of the
    /// file.
    ///
    /// - Throws: ``LoopbackError/cannotRead(path:code:)``.
    public static func file(_ path: String) throws(LoopbackError) -> LoopbackBody {
        let file = try FileDescriptor(reading: path)
        return LoopbackBody(.file(file), length: file.length)
    }

    /// The part of the body in the range, limited to the length of the body.
    public subscript(range: Range<Int64>) -> LoopbackBody {
        let part = range.clamped(to: 0..<length)
        return LoopbackBody(source, start: start + part.lowerBound, length: part.upperBound - part.lowerBound)
    }

    /// Returns a part of at most ``chunkSize`` bytes, or nil if the file cannot be read there.
    func chunk(at offset: Int64, upTo end: Int64) -> ByteBuffer? {
        let count = Int(min(Self.chunkSize, min(end, length) - offset))
        guard count > 0 else { return nil }
        switch source {
        case .bytes(let buffer): return buffer.getSlice(at: buffer.readerIndex + Int(start + offset), length: count)
        case .pattern(let buffer, let unit):
            return buffer.getSlice(at: buffer.readerIndex + Int((start + offset) % Int64(unit)), length: count)
        case .file(let file): return file.read(count, at: start + offset)
        }
    }

    /// All bytes of the body, in memory. Use the property for digests and small bodies.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        while Int64(bytes.count) < length, let chunk = chunk(at: Int64(bytes.count), upTo: length) {
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    /// An open file, which closes when the last body with a part of the file is deallocated.
    final class FileDescriptor: Sendable {
        private let number: CInt
        let length: Int64

        init(reading path: String) throws(LoopbackError) {
            let number = open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { throw .cannotRead(path: path, code: errno) }
            var status = stat()
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                let code = errno
                close(number)
                throw .cannotRead(path: path, code: code)
            }
            self.number = number
            length = Int64(status.st_size)
        }

        deinit { close(number) }

        func read(_ count: Int, at offset: Int64) -> ByteBuffer? {
            var buffer = ByteBuffer()
            let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                max(0, pread(number, bytes.baseAddress, count, off_t(offset)))
            }
            return got == count ? buffer : nil
        }
    }
}
