/// Aging: a priority that was passed over often enough has a turn, so that no member waits forever behind higher ones.
///
/// The line of a priority ages, not each member of it. So a large number of old members of low priority starts only now
/// and then, and never blocks all others.
extension Schedule {
    struct Aging {
        /// The number of times in a row that a line may be passed over; `Int.max` if lines do not age.
        let limit: Int
        /// For each line, lowest first: the number of times it was passed over since it was last served or empty.
        private var passedOver = Counts()
        /// The member that was served last, and the numbers from before that.
        private(set) var lastTurn: (arrival: UInt64, passedOver: Counts)?

        typealias Counts = SIMD8<Int>

        init(limit: Int?) { self.limit = limit ?? .max }

        var isOn: Bool { limit < .max }

        /// The limit and the counts, for tests.
        var counts: [Int] { [limit] + passedOver.indices.map { passedOver[$0] } }

        /// Returns the line to serve among the occupied ones: bit n for line n. It is the highest line, or, among due
        /// lines, the one that was passed over most often.
        func line(among occupied: UInt8) -> PriorityLane? {
            var chosen: Int?
            for line in passedOver.indices.reversed() where occupied & 1 << line != 0 {
                let isBetter = chosen.map { passedOver[line] >= limit && passedOver[line] > passedOver[$0] } ?? true
                if isBetter { chosen = line }
            }
            return chosen.flatMap { PriorityLane(rawValue: UInt8($0)) }
        }

        /// Records that the first member of a line was served among the occupied lines.
        mutating func serve(_ choice: Choice, among occupied: UInt8) {
            lastTurn = (choice.arrival, passedOver)
            let lane = choice.lane
            for line in passedOver.indices {
                if line == Int(lane.rawValue) || occupied & 1 << line == 0 {
                    passedOver[line] = 0
                } else if line < Int(lane.rawValue) {
                    passedOver[line] += 1
                }
            }
        }

        /// Takes back the turn of a member whose start was refused: its line has not been served.
        mutating func takeBackTurn(of arrival: UInt64) {
            guard let turn = lastTurn, turn.arrival == arrival else { return }
            (passedOver, lastTurn) = (turn.passedOver, nil)
        }
    }

    /// Sets the aging limit.
    ///
    /// - Parameter limit: The number of times in a row that a priority may be passed over for higher ones; nil for no
    ///   limit, the documented behavior of operation queues.
    public mutating func setAging(limit: Int?) { aging = Aging(limit: limit) }
}
