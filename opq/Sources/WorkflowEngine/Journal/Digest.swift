/// A hash of 128 bits, by which contents are compared. The hash finds accidental differences. It is no protection against forged
/// contents.
///
/// Source: MurmurHash3_x64_128 by Austin Appleby, which is in the public domain.
struct Digest: Hashable, Sendable {
    let first, second: UInt64

    /// Creates a digest from its two halves.
    init(_ first: UInt64, _ second: UInt64) { (self.first, self.second) = (first, second) }

    /// Creates the digest of a sequence of texts. The lengths are part of the digest, so `["ab", "c"]` and `["a", "bc"]` differ.
    init(of texts: some Sequence<String>) {
        var hasher = DigestHasher()
        for var text in texts {
            text.withUTF8 { bytes in
                withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hasher.add($0) }
                hasher.add(UnsafeRawBufferPointer(bytes))
            }
        }
        self = hasher.finish()
    }

    /// Creates the digest of bytes.
    init(of bytes: ArraySlice<UInt8>) {
        var hasher = DigestHasher()
        bytes.withUnsafeBytes { hasher.add($0) }
        self = hasher.finish()
    }
}

extension Digest {
    /// Creates the digest of an array of bytes.
    init(of bytes: [UInt8]) { self.init(of: bytes[...]) }
}

/// A computation of a digest from parts of the bytes.
struct DigestHasher {
    private static let (c1, c2): (UInt64, UInt64) = (0x87c3_7b91_1142_53d5, 0x4cf5_ad43_2745_937f)

    private var (h1, h2): (UInt64, UInt64) = (0, 0)
    private var count = 0
    /// The bytes after the last whole block of 16 bytes, and zeros.
    private var rest: (UInt64, UInt64) = (0, 0)
    private var restCount = 0

    /// Adds bytes, which continue those added before.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        var bytes = bytes[...]
        if restCount > 0 {
            let missing = bytes.prefix(16 - restCount)
            keep(missing)
            bytes = bytes.dropFirst(missing.count)
            guard restCount == 16 else { return }
            withUnsafeBytes(of: rest) { addBlocks($0) }
            (rest, restCount) = ((0, 0), 0)
        }
        let whole = bytes.count & ~15
        addBlocks(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)))
        keep(bytes.dropFirst(whole))
    }

    /// Adds bytes to the incomplete block.
    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        withUnsafeMutableBytes(of: &rest) { rest in
            UnsafeMutableRawBufferPointer(rebasing: rest[restCount...]).copyBytes(from: bytes)
        }
        restCount += bytes.count
    }

    private mutating func addBlocks(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count, by: 16) {
            let k1 = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let k2 = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            h1 ^= Self.rotated(k1 &* Self.c1, 31) &* Self.c2
            h1 = (Self.rotated(h1, 27) &+ h2) &* 5 &+ 0x52dc_e729
            h2 ^= Self.rotated(k2 &* Self.c2, 33) &* Self.c1
            h2 = (Self.rotated(h2, 31) &+ h1) &* 5 &+ 0x3849_5ab5
        }
    }

    /// Returns the digest of all bytes.
    func finish() -> Digest {
        var (h1, h2) = (h1, h2)
        let (k1, k2) = (UInt64(littleEndian: rest.0), UInt64(littleEndian: rest.1))
        if restCount > 8 { h2 ^= Self.rotated(k2 &* Self.c2, 33) &* Self.c1 }
        if restCount > 0 { h1 ^= Self.rotated(k1 &* Self.c1, 31) &* Self.c2 }
        h1 ^= UInt64(count)
        h2 ^= UInt64(count)
        h1 &+= h2
        h2 &+= h1
        h1 = Self.mixed(h1)
        h2 = Self.mixed(h2)
        h1 &+= h2
        h2 &+= h1
        return Digest(h1, h2)
    }

    private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value ^= value >> 33
        value &*= 0xff51_afd7_ed55_8ccd
        value ^= value >> 33
        value &*= 0xc4ce_b9fe_1a85_ec53
        return value ^ value >> 33
    }
}
