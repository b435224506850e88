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
///
/// The bytes must outlive the reader. A journal may have 100,000 entries, and a reader of an array would count references at each byte.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer
    private var hasFailed = false

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    /// Whether all bytes were read without an error.
    var isAtEnd: Bool { rest.isEmpty && !hasFailed }

    private mutating func drop(_ count: Int) { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }

    mutating func byte() -> UInt8 {
        guard let byte = rest.first else { return fail(0) }
        drop(1)
        return byte
    }

    mutating func int() -> Int {
        var (number, shift, count): (UInt, UInt, Int) = (0, 0, 0)
        while count < rest.count, shift < 64 {
            let byte = rest[count]
            count += 1
            number |= UInt(byte & 0x7F) << shift
            if byte < 0x80 {
                drop(count)
                return Int(bitPattern: number >> 1) ^ -Int(bitPattern: number & 1)
            }
            shift += 7
        }
        return fail(0)
    }

    mutating func text() -> String {
        let count = int()
        guard count >= 0, count <= rest.count else { return fail("") }
        defer { drop(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    mutating func digest() -> Digest {
        guard rest.count >= 16 else { return fail(Digest(0, 0)) }
        defer { drop(16) }
        func half(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
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
        rest = UnsafeRawBufferPointer(start: nil, count: 0)
        return value
    }
}
