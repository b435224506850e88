/// The checksum of gzip (RFC 1952, section 8).
struct CRC32 {
    private var register: UInt32 = ~0
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    var value: UInt32 { ~register }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] }
    }

    /// Updates the checksum for `count` zeros, in a number of steps that is the number of bits of `count`. A zero
    /// applies a linear map to the bits of the register. The squares of the map correspond to 2, 4, 8 and more zeros.
    mutating func update(zeros count: Int64) {
        var map = (0..<32).map { bit in
            let register: UInt32 = 1 << bit
            return register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register))]
        }
        var rest = count
        while rest > 0 {
            if rest & 1 == 1 { register = Self.apply(map, to: register) }
            map = map.map { Self.apply(map, to: $0) }
            rest >>= 1
        }
    }

    private static func apply(_ map: [UInt32], to register: UInt32) -> UInt32 {
        (0..<32).reduce(0) { register >> $1 & 1 == 1 ? $0 ^ map[$1] : $0 }
    }
}
