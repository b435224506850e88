import NIOCore

/// A portion of a body. Copies of a chunk share the bytes.
///
/// Functions on whole chunks, such as `Array(chunk)`, `Data(chunk)` and `withContiguousStorageIfAvailable(_:)`, read the
/// bytes in one step. Access to single bytes is slower.
public struct HTTPBodyChunk: RandomAccessCollection, Hashable, Sendable {
    let buffer: ByteBuffer
    private var view: ByteBufferView { buffer.readableBytesView }

    init(_ buffer: ByteBuffer) { self.buffer = buffer.slice() }

    /// Creates a chunk with a copy of the bytes.
    public init(_ bytes: some Collection<UInt8>) { self.init(Self.buffer(of: bytes)) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { buffer.readableBytes }
    public subscript(index: Int) -> UInt8 { view[index] }

    /// Calls the function with the bytes, without a copy. The pointer is valid during the call only.
    public func withUnsafeBytes<R, E>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try buffer.withUnsafeReadableBytes(body)
    }

    public func withContiguousStorageIfAvailable<R>(_ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        try view.withContiguousStorageIfAvailable(body)
    }

    // Without this function, `Array(chunk)` would read each byte alone.
    public func _copyContents(
        initializing target: UnsafeMutableBufferPointer<UInt8>
    ) -> (Iterator, UnsafeMutableBufferPointer<UInt8>.Index) {
        precondition(target.count >= count)
        withUnsafeBytes { UnsafeMutableRawBufferPointer(target).copyMemory(from: $0) }
        return (Iterator(_elements: self, _position: count), count)
    }

    /// Returns the bytes as a buffer. The bytes of a chunk are not copied.
    static func buffer(of bytes: some Collection<UInt8>) -> ByteBuffer {
        (bytes as? HTTPBodyChunk)?.buffer ?? ByteBuffer(bytes: bytes)
    }
}

extension HTTPBodyChunk: CustomStringConvertible {
    /// The number of bytes.
    public var description: String { "\(count) bytes" }
}
