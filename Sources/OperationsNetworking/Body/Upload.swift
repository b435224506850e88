#if Networking
import AsyncHTTPClient
import HTTPCore
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request's body on its way: what may go when, and who is told of it.
struct Sending: Sendable {
    /// Suspends until so many bytes may go.
    let pass: @Sendable (Int) async throws -> Void
    /// They are handed over next. Whoever has seen the server's answer to all of them has seen them counted: told when the
    /// next portion is asked for, the last one could come after the end of the transfer.
    let whenSent: @Sendable (Int) -> Void
    /// They are on the wire.
    let whenGone: @Sendable (Int) -> Void
}

/// The portions of a request's body, each when it may go.
struct PacedPortions<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element == ByteBuffer {
    let base: Base
    let sending: Sending

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), sending: sending) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let sending: Sending
        /// Given out, and gone when the next is asked for.
        var onItsWay = 0

        @concurrent
        mutating func next() async throws -> ByteBuffer? {
            if onItsWay > 0 { sending.whenGone(onItsWay) }
            onItsWay = 0
            guard let portion = try await base.next() else { return nil }
            onItsWay = portion.readableBytes
            try await sending.pass(onItsWay)
            sending.whenSent(onItsWay)
            return portion
        }
    }
}

/// The bytes of a request's body. Files are opened when it is their turn, and closed when they have been read, or nobody
/// wants them any more; what they grow by after their length was announced is not sent.
struct UploadPortions: AsyncSequence, Sendable {
    let segments: [MultipartLayout.Segment]
    /// How many bytes to send at a time.
    let size: @Sendable () -> Int

    func makeAsyncIterator() -> Iterator { Iterator(left: segments[...], size: size) }

    struct Iterator: AsyncIteratorProtocol {
        var left: ArraySlice<MultipartLayout.Segment>
        let size: @Sendable () -> Int
        var file: OpenFile?
        /// In the first segment that is left.
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

        init(_ path: String) throws {
            self.path = path
            do {
                descriptor = try SystemFile.open(FilePath(path), .readOnly, options: .closeOnExec)
            } catch {
                throw TransferFailure(.cannotRead(path: path, error))
            }
        }

        deinit { try? descriptor.close() }

        /// Some bytes, at most so many.
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

        /// - Throws: `cannotRead` also for what is there and may not be read.
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

/// A file ends before the length it had when the request was begun.
struct FileHasShrunk: Error, CustomStringConvertible {
    var description: String { "the file has become shorter while it was sent" }
}
#endif
