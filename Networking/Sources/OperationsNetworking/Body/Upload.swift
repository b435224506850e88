import AsyncHTTPClient
import HTTPCore
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The pacing and the notifications of a request body that is being sent.
struct Sending: Sendable {
    /// Returns the largest number of bytes to send at a time.
    let piece: @Sendable () -> Int
    /// Suspends until this number of bytes may be sent.
    let pass: @Sendable (Int) async throws -> Void
    /// Called before these bytes are handed over. A call at the request for the next portion would be too late: the last call
    /// could follow the end of the transfer.
    let whenSent: @Sendable (Int) -> Void
    /// Called when these bytes are on the wire.
    let whenGone: @Sendable (Int) -> Void
    /// Suspends until the event loops have taken all bytes that were handed over.
    let untilTaken: @Sendable () async -> Void
}

/// The portions of a request body in small pieces, each delayed by the bandwidth caps.
///
/// A source may give portions of any size. While a large portion is on the wire, nothing would report activity.
///
/// async-http-client stops asking for portions when the event loop has seen that the connection is full. A loop that is late,
/// because the processors are busy, sees nothing: a whole file would be read into memory meanwhile. So the portions wait for
/// the loops after every `mostAhead` bytes.
struct PacedPortions<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element == ByteBuffer {
    let base: Base
    let sending: Sending

    /// The number of bytes that are handed over before the event loops have taken them. The last piece may exceed it.
    static var mostAhead: Int { 1 << 20 }

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), sending: sending) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let sending: Sending
        /// The rest of the portion of which pieces were handed out.
        var rest = ByteBuffer()
        /// The number of bytes that were handed out, and are on the wire when the next portion is requested.
        var onItsWay = 0
        /// The number of bytes that were handed out since the event loops had taken all.
        var ahead = 0

        @concurrent
        mutating func next() async throws -> ByteBuffer? {
            if onItsWay > 0 { sending.whenGone(onItsWay) }
            onItsWay = 0
            if ahead >= PacedPortions.mostAhead {
                await sending.untilTaken()
                ahead = 0
            }
            if rest.readableBytes == 0 {
                guard let portion = try await base.next() else { return nil }
                rest = portion
            }
            // A slice shares the memory of the portion.
            let piece = rest.readSlice(length: Swift.min(rest.readableBytes, Swift.max(1, sending.piece()))) ?? rest
            onItsWay = piece.readableBytes
            ahead += onItsWay
            try await sending.pass(onItsWay)
            sending.whenSent(onItsWay)
            return piece
        }
    }
}

/// The bytes of a request body. Each file is opened when its turn comes, and closed after it was read or when the iterator is
/// released. Bytes that a file grows by after its length was announced are not sent.
struct UploadPortions: AsyncSequence, Sendable {
    let segments: [MultipartLayout.Segment]
    /// Returns the number of bytes to send at a time.
    let size: @Sendable () -> Int

    func makeAsyncIterator() -> Iterator { Iterator(left: segments[...], size: size) }

    struct Iterator: AsyncIteratorProtocol {
        var left: ArraySlice<MultipartLayout.Segment>
        let size: @Sendable () -> Int
        var file: OpenFile?
        /// The offset in the first remaining segment.
        var offset: Int64 = 0

        mutating func next() throws -> ByteBuffer? {
            guard let segment = left.first else { return nil }
            let portion = try read(Int(Swift.min(segment.length - offset, Int64(size()))), of: segment)
            offset += Int64(portion.readableBytes)
            if offset == segment.length {
                left.removeFirst()
                (offset, file) = (0, nil)
            }
            return portion
        }

        private mutating func read(_ count: Int, of segment: MultipartLayout.Segment) throws -> ByteBuffer {
            switch segment {
            case .bytes(let data):
                return ByteBuffer(bytes: data[(data.startIndex + Int(offset))...].prefix(count))
            case .file(let path, _):
                let file = try file ?? OpenFile(path)
                self.file = file
                return try file.read(count)
            }
        }
    }

    final class OpenFile: Sendable {
        private let descriptor: SystemFile
        private let path: String

        /// Opens a regular file. Other files have no length, and opening a pipe would wait for its writer.
        init(_ path: String) throws {
            self.path = path
            do {
                descriptor = try SystemFile.open(FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking])
            } catch {
                throw TransferFailure(.cannotRead(path: path, error))
            }
            guard (try? descriptor.stat().type) == .regular else {
                throw TransferFailure(.cannotRead(path: path, NoRegularFile()))
            }
        }

        deinit { try? descriptor.close() }

        /// Returns at least 1 byte and at most `count` bytes.
        func read(_ count: Int) throws -> ByteBuffer {
            var buffer = ByteBuffer()
            do {
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                    try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
                }
                if buffer.readableBytes == 0 { throw FileHasShrunk() }
            } catch {
                throw TransferFailure(.cannotRead(path: path, error))
            }
            return buffer
        }

        /// Returns the length of a file.
        ///
        /// - Throws: `cannotRead`, also for an existing file without read permission.
        static func length(of path: String) throws -> Int64 {
            try OpenFile(path).length()
        }

        private func length() throws -> Int64 {
            do { return try descriptor.seek(offset: 0, from: .end) } catch {
                throw TransferFailure(.cannotRead(path: path, error))
            }
        }
    }
}

/// An error for a folder, a pipe or a device.
struct NoRegularFile: Error, CustomStringConvertible {
    var description: String { "this is not a regular file" }
}

/// An error for a file that ended before its announced length.
struct FileHasShrunk: Error, CustomStringConvertible {
    var description: String { "the file became shorter while it was being sent" }
}
