/// An amount of work that needs a core and nothing else.
enum Computation {
    /// How much work one thread does in a millisecond, at the best of some trials.
    static let roundsInAMillisecond: Int = {
        let trial = 1_000_000
        let clock = ContinuousClock()
        let times = (0..<20).map { _ in clock.measure { precondition(result(of: trial) != 0) } }
        return Int(Double(trial) * (.milliseconds(1) / times.min()!))
    }()

    /// Never 0, which the caller has to check: work without a use would be optimised away.
    @inline(never)
    static func result(of rounds: Int) -> UInt64 {
        var state: UInt64 = 88_172_645_463_325_252
        for _ in 0..<rounds {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
        }
        return state
    }
}
