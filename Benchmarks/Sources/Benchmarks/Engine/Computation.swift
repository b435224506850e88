/// An amount of work that needs only a core.
enum Computation {
    /// The amount of work that one thread does in a millisecond, as the best of several trials.
    static let roundsInAMillisecond: Int = {
        let trial = 1_000_000
        let clock = ContinuousClock()
        let times = (0..<20).map { _ in clock.measure { precondition(result(of: trial) != 0) } }
        return Int(Double(trial) * (.milliseconds(1) / times.min()!))
    }()

    /// Does the work. The result is never 0, which the caller must check: unused work would be optimized away.
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
