#if Networking
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import NIOCore

/// What a response carries: bytes, a pattern that is made while it is sent, or a part of a file. Its length is known.
public struct LoopbackBody: Sendable {
    enum Source: Sendable {
        case bytes(ByteBuffer)
        /// A unit repeated so often that a chunk fits wherever it begins; and the unit's length.
        case pattern(ByteBuffer, unit: Int)
        case file(FileDescriptor)
    }

    /// As much as is in memory at a time.
    static let chunkSize: Int64 = 65536

    let source: Source
    private let start: Int64
    /// In bytes.
    public let length: Int64

    private init(_ source: Source, start: Int64 = 0, length: Int64) {
        self.source = source
        self.start = start
        self.length = length
    }

    public static let empty = LoopbackBody.bytes([])

    public static func bytes(_ bytes: some Sequence<UInt8>) -> LoopbackBody {
        let buffer = ByteBuffer(bytes: bytes)
        return LoopbackBody(.bytes(buffer), length: Int64(buffer.readableBytes))
    }

    public static func text(_ text: String) -> LoopbackBody { .bytes(text.utf8) }

    /// `length` bytes of a unit over and over. None of it is in memory but a chunk, whatever the length.
    ///
    /// The default unit has 251 bytes, so that no power of two is a multiple of it and a misplaced part is noticed.
    public static func pattern(_ unit: [UInt8] = Array(0..<251), length: Int64) -> LoopbackBody {
        guard !unit.isEmpty, length > 0 else { return .empty }
        var buffer = ByteBuffer()
        while buffer.readableBytes < Int(chunkSize) + unit.count { buffer.writeBytes(unit) }
        return LoopbackBody(.pattern(buffer, unit: unit.count), length: length)
    }

    /// A file, read while it is sent. What is appended to it later is not sent.
    ///
    /// - Throws: ``LoopbackError/cannotRead(path:code:)``.
    public static func file(_ path: String) throws(LoopbackError) -> LoopbackBody {
        let file = try FileDescriptor(reading: path)
        return LoopbackBody(.file(file), length: file.length)
    }

    /// A part of it, cut to what there is.
    public subscript(range: Range<Int64>) -> LoopbackBody {
        let part = range.clamped(to: 0..<length)
        return LoopbackBody(source, start: start + part.lowerBound, length: part.upperBound - part.lowerBound)
    }

    /// A part of at most ``chunkSize`` bytes; nil if a file cannot be read there any more.
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

    /// All of it. For digests and small bodies; a long pattern is made whole here.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        while Int64(bytes.count) < length, let chunk = chunk(at: Int64(bytes.count), upTo: length) {
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    /// An open file, closed when the last body that shows a part of it is gone.
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
#endif
