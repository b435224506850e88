import OperationsTesting

/// A generator of random numbers and choices that depend only on its seed.
package struct SeededRandom: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// Returns true with a probability of `percent` percent.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Returns a number from 0 to `bound` - 1.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns a random element. The collection must not be empty.
    package mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }
}
