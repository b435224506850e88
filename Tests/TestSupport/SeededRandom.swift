/// A generator of random numbers and choices that depend only on its seed (SplitMix64).
///
/// `SeededGenerator` of `OperationsTesting` returns the same numbers. This module does not import that one, so that tests of
/// modules below `Operations` are not compiled again when `Operations` changes.
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns true with a probability of `percent` percent.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Returns a number from 0 to `bound` - 1.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns a random element. The collection must not be empty.
    package mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }
}
