#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The size of the stress tests, from the environment variable `OPERATIONS_STRESS`: a factor, 1 by default.
enum Stress {
    static let factor: Double = getenv("OPERATIONS_STRESS").flatMap { Double(String(cString: $0)) } ?? 1

    static func rounds(_ normal: Int) -> Int { max(1, Int(Double(normal) * factor)) }
}

/// A generator whose numbers follow from its seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
