#if Networking
import HTTPCore
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of a request's body in portions, so that one can tell how many have gone.
struct Portions: AsyncSequence, Sendable {
    static var size: Int { 64 << 10 }

    private let data: Data
    private let whenSent: @Sendable (Int) -> Void

    init(of data: Data, whenSent: @escaping @Sendable (Int) -> Void) {
        self.data = data
        self.whenSent = whenSent
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: data[...], whenSent: whenSent) }

    struct Iterator: AsyncIteratorProtocol {
        var left: Data
        let whenSent: @Sendable (Int) -> Void
        /// Given out, and gone when the next is asked for.
        var onItsWay = 0

        mutating func next() async -> ByteBuffer? {
            if onItsWay > 0 { whenSent(onItsWay) }
            let portion = left.prefix(Portions.size)
            left = left.dropFirst(portion.count)
            onItsWay = portion.count
            return portion.isEmpty ? nil : ByteBuffer(bytes: portion)
        }
    }
}

/// The same for a file, which is closed when it has been read, or nobody wants it any more. What it grows by after its
/// length was announced is not sent.
struct FilePortions: AsyncSequence, Sendable {
    private let file: OpenFile
    private let length: Int64
    private let whenSent: @Sendable (Int) -> Void

    init(_ file: SystemFile, path: String, length: Int64, whenSent: @escaping @Sendable (Int) -> Void) {
        self.file = OpenFile(file, path: path)
        self.length = length
        self.whenSent = whenSent
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: file, whenSent: whenSent, left: length) }

    struct Iterator: AsyncIteratorProtocol {
        let file: OpenFile
        let whenSent: @Sendable (Int) -> Void
        var left: Int64
        var onItsWay = 0

        mutating func next() async throws -> ByteBuffer? {
            if onItsWay > 0 { whenSent(onItsWay) }
            let portion = left == 0 ? ByteBuffer() : try file.read(Int(Swift.min(left, Int64(Portions.size))))
            onItsWay = portion.readableBytes
            left -= Int64(onItsWay)
            return portion.readableBytes == 0 ? nil : portion
        }
    }

    final class OpenFile: Sendable {
        private let descriptor: SystemFile
        private let path: String

        init(_ descriptor: SystemFile, path: String) {
            self.descriptor = descriptor
            self.path = path
        }

        deinit { try? descriptor.close() }

        func read(_ count: Int) throws -> ByteBuffer {
            var buffer = ByteBuffer()
            do {
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                    try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
                }
            } catch {
                throw TransferFailure(.cannotRead(path: path, error))
            }
            return buffer
        }
    }
}
#endif
