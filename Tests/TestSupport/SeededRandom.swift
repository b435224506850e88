import OperationsTesting

/// A generator whose numbers follow from its seed, with what tests choose by.
package struct SeededRandom: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// True in `percent` of a hundred cases.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// A number from 0 up to `bound`, which it never reaches.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// An element of something that is not empty.
    package mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }
}
