import SchedulerCore
import Testing

@Suite struct CatchUpTests {
    private static let (millisecond, second): (UInt64, UInt64) = (1_000_000, 1_000_000_000)

    private func due(_ deadlines: [UInt64]) -> [(deadline: UInt64, timer: UInt64)] { deadlines.map { ($0, $0) } }

    /// The timers of each turn.
    private func turns(of deadlines: [UInt64], at now: UInt64) -> [[UInt64]] {
        var catchUp = CatchUp<UInt64>()
        var turns = [catchUp.begin(with: due(deadlines), at: now)]
        var now = now
        while catchUp.isUnderWay {
            #expect(catchUp.takeTurn(at: now).isEmpty)
            now += CatchUp<UInt64>.turn
            turns.append(catchUp.takeTurn(at: now))
        }
        return turns
    }

    @Test func `timers that are on time, or a little late, fire together`() {
        #expect(turns(of: [], at: 10) == [[]])
        #expect(turns(of: [10, 10 + Self.second], at: 10 + CatchUp<UInt64>.lateness - 1) == [[10, 10 + Self.second]])
    }

    @Test(arguments: [2, 3600, 1_000_000] as [UInt64])
    func `late timers fire in turns, the earliest first, however late they are`(seconds: UInt64) {
        let deadlines = [500, 510, 1000, 1500].map { UInt64($0) * Self.millisecond }
        #expect(turns(of: deadlines, at: seconds * Self.second) == deadlines.map { [$0] })
    }

    @Test func `late timers that are close to each other share a turn`() {
        let deadlines = [0, 1, 2, 4].map { UInt64($0) * Self.millisecond }
        #expect(turns(of: deadlines, at: Self.second) == [Array(deadlines[..<3]), [deadlines[3]]])
    }

    @Test(arguments: [17, 100_000]) func `many late timers fire in order, in few turns`(count: Int) {
        let deadlines = (0..<count).map { UInt64($0) * 10 * Self.millisecond }
        let turns = turns(of: deadlines, at: deadlines.last! + Self.second)
        #expect(turns.count <= CatchUp<UInt64>.turns && turns.flatMap(\.self) == deadlines)
        #expect(turns.map(\.count).max()! <= (count + 15) / 16)
    }
}
