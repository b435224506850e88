package import Foundation

/// The body of a cached response, in memory or in an open file. The body remains readable to its end if the entry is
/// replaced or evicted meanwhile.
package struct CachedBody: Sendable {
    private enum Storage { case memory(Data), file(OpenFile) }

    private let storage: Storage
    /// The size of the body in bytes.
    package let size: Int64

    /// The queue on which all caches read files, one at a time.
    private static let executor = DiskExecutor("HTTPCache.reading")

    init(_ data: Data) {
        storage = .memory(data)
        size = Int64(data.count)
    }

    init(_ file: OpenFile, size: Int64) {
        storage = .file(file)
        self.size = size
    }

    /// The complete body if it is already in memory, otherwise nil.
    package var dataInMemory: Data? {
        if case .memory(let data) = storage { data } else { nil }
    }

    /// Reads at most `count` bytes at an offset. The result is empty at the end of the body.
    package func read(at offset: Int64, count: Int) async throws(HTTPCacheError) -> Data {
        guard offset >= 0, offset < size, count > 0 else { return Data() }
        let count = Int(min(Int64(count), size - offset))
        switch storage {
        case .memory(let data):
            let start = data.startIndex + Int(offset)
            return data[start..<start + count]
        case .file(let file):
            return try await Self.executor.run { () throws(HTTPCacheError) in try file.read(at: offset, count: count) }
        }
    }

    /// Reads the complete body into memory. The caller must know that the body is small enough.
    package func data() async throws(HTTPCacheError) -> Data {
        try await read(at: 0, count: Int(clamping: size))
    }

    /// Returns a sequence of the body's pieces. Each piece is read when the caller requests it.
    package func pieces(of length: Int = 64 << 10) -> Pieces { Pieces(body: self, length: max(1, length)) }

    package struct Pieces: AsyncSequence, Sendable {
        let body: CachedBody
        let length: Int

        package func makeAsyncIterator() -> Iterator { Iterator(body: body, length: length) }

        package struct Iterator: AsyncIteratorProtocol {
            let body: CachedBody
            let length: Int
            var offset: Int64 = 0

            package mutating func next() async throws(HTTPCacheError) -> Data? {
                guard offset < body.size else { return nil }
                let piece = try await body.read(at: offset, count: length)
                guard !piece.isEmpty else { throw .damagedBody(path: "a truncated cached body") }
                offset += Int64(piece.count)
                return piece
            }
        }
    }
}
