/// A forward reader for data that may be hostile. A read outside of the data returns nil and never traps.
struct ByteReader {
    private let bytes: [UInt8]
    /// The current position, at most `bytes.count`.
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    mutating func byte() -> Int? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return Int(bytes[position])
    }

    /// Skips `count` bytes, which must not be negative. Returns false and moves to the end if fewer bytes remain.
    mutating func skip(_ count: Int) -> Bool {
        guard count <= remaining else {
            position = bytes.count
            return false
        }
        position += count
        return true
    }

    /// Reads a number of `count` bytes, with the most significant byte first.
    mutating func bigEndian(_ count: Int) -> Int? {
        guard count <= remaining else { return nil }
        var value = 0
        for offset in 0..<count { value = value << 8 | Int(bytes[position + offset]) }
        position += count
        return value
    }

    /// Reads a number of `count` bytes, with the least significant byte first.
    mutating func littleEndian(_ count: Int) -> Int? {
        guard count <= remaining else { return nil }
        var value = 0
        for offset in 0..<count { value |= Int(bytes[position + offset]) << (8 * offset) }
        position += count
        return value
    }

    /// Reads four letters as a number, with the first letter in the most significant byte.
    mutating func tag() -> FourLetters? { bigEndian(4).map { FourLetters(number: $0) } }

    /// Returns the byte at `offset` after the position, or nil.
    func peek(_ offset: Int = 0) -> Int? { offset < remaining ? Int(bytes[position + offset]) : nil }

    /// Moves to the next byte with this value and returns true. Returns false and moves to the end if no such byte
    /// follows.
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
