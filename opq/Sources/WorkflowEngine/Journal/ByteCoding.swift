/// A writer of numbers, texts and lists as bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ byte: UInt8) { bytes.append(byte) }

    /// Adds a number with seven bits in each byte, so that small numbers of either sign take few bytes.
    mutating func add(int number: Int) {
        var rest = UInt(bitPattern: number << 1 ^ number >> (Int.bitWidth - 1))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func add(_ text: String) {
        add(int: text.utf8.count)
        bytes += text.utf8
    }

    mutating func add(_ digest: Digest) {
        for half in [digest.first, digest.second] { withUnsafeBytes(of: half.littleEndian) { bytes += $0 } }
    }

    mutating func add<Element>(_ list: [Element], _ write: (inout ByteWriter, Element) -> Void) {
        add(int: list.count)
        for element in list { write(&self, element) }
    }

    mutating func add<Element>(_ element: Element?, _ write: (inout ByteWriter, Element) -> Void) {
        add(element == nil ? 0 : 1)
        if let element { write(&self, element) }
    }
}

/// A reader of the bytes of a `ByteWriter`. After an error it returns zeros, and ``isAtEnd`` is false.
struct ByteReader {
    private var rest: ArraySlice<UInt8>
    private var hasFailed = false

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes were read without an error.
    var isAtEnd: Bool { rest.isEmpty && !hasFailed }

    mutating func byte() -> UInt8 { rest.popFirst() ?? fail(0) }

    mutating func int() -> Int {
        var (number, shift): (UInt, UInt) = (0, 0)
        while let byte = rest.popFirst() {
            guard shift < 64 else { break }
            number |= UInt(byte & 0x7F) << shift
            if byte < 0x80 { return Int(bitPattern: number >> 1) ^ -Int(bitPattern: number & 1) }
            shift += 7
        }
        return fail(0)
    }

    mutating func text() -> String {
        let count = int()
        guard count >= 0, count <= rest.count else { return fail("") }
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    mutating func digest() -> Digest {
        guard rest.count >= 16 else { return fail(Digest(0, 0)) }
        defer { rest = rest.dropFirst(16) }
        func half(_ offset: Int) -> UInt64 {
            rest.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        return Digest(half(0), half(8))
    }

    mutating func list<Element>(_ read: (inout ByteReader) -> Element) -> [Element] {
        let count = int()
        // Each element has at least one byte, so a damaged count takes no memory.
        guard count >= 0, count <= rest.count else { return fail([]) }
        return (0..<count).map { _ in read(&self) }
    }

    mutating func optional<Element>(_ read: (inout ByteReader) -> Element) -> Element? {
        byte() == 0 ? nil : read(&self)
    }

    mutating func fail<Value>(_ value: Value) -> Value {
        hasFailed = true
        rest = []
        return value
    }
}
