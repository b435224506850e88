#if Networking
/// Reads forward through data that may be hostile: whatever lies outside of it is nil, never a trap. A plain value.
struct ByteReader {
    private let bytes: [UInt8]
    /// At most `bytes.count`.
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func byte() -> Int? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return Int(bytes[position])
    }

    /// False, and then the position is the end, if there are fewer bytes. `count` is not negative.
    mutating func skip(_ count: Int) -> Bool {
        guard count <= remaining else {
            position = bytes.count
            return false
        }
        position += count
        return true
    }

    /// A number of `count` bytes, the most significant first.
    mutating func bigEndian(_ count: Int) -> Int? {
        guard count <= remaining else { return nil }
        var value = 0
        for offset in 0..<count { value = value << 8 | Int(bytes[position + offset]) }
        position += count
        return value
    }

    /// A number of `count` bytes, the least significant first.
    mutating func littleEndian(_ count: Int) -> Int? {
        guard count <= remaining else { return nil }
        var value = 0
        for offset in 0..<count { value |= Int(bytes[position + offset]) << (8 * offset) }
        position += count
        return value
    }

    /// Four letters, as the first byte's number above the others'.
    mutating func tag() -> FourLetters? { bigEndian(4).map { FourLetters(number: $0) } }

    /// The byte that is `offset` behind the position.
    func peek(_ offset: Int = 0) -> Int? { offset < remaining ? Int(bytes[position + offset]) : nil }

    /// Goes to the next byte of this value and answers whether there is one; if not, the position is the end.
    mutating func seek(to value: UInt8) -> Bool {
        let found = bytes.withUnsafeBufferPointer { bytes -> Int? in
            var index = position
            while index < bytes.count {
                if bytes[index] == value { return index }
                index += 1
            }
            return nil
        }
        position = found ?? bytes.count
        return found != nil
    }
}

/// The name of a chunk in PNG and WebP.
struct FourLetters: Equatable, ExpressibleByStringLiteral {
    let number: Int

    init(number: Int) { self.number = number }
    init(stringLiteral letters: StaticString) {
        number = letters.withUTF8Buffer { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}
#endif
