/// Ageing: a priority that was passed over often enough has a turn, so that nothing waits for ever behind better ones.
///
/// What ages is the line of a priority and not each operation in it: an old crowd of low ones has a turn now and then,
/// and never turns into a crowd of high ones that holds up everybody else.
extension Schedule {
    struct Ageing {
        /// How often in a row a line may be passed over.
        let limit: Int
        /// By line, lowest first: how often it was, since it was served last or had nobody in it.
        private var passedOver = Array(repeating: 0, count: PriorityLane.allCases.count)

        init(limit: Int) { self.limit = limit }

        /// The line to serve of those that have somebody in them: bit n for line n. It is the highest, or of those that are
        /// due the one that was passed over most often.
        mutating func choose(among occupied: UInt8) -> PriorityLane? {
            var chosen: Int?
            for line in passedOver.indices.reversed() where occupied & 1 << line != 0 {
                let isBetter = chosen.map { passedOver[line] >= limit && passedOver[line] > passedOver[$0] } ?? true
                if isBetter { chosen = line }
            }
            guard let chosen else { return nil }
            for line in passedOver.indices {
                if line == chosen || occupied & 1 << line == 0 {
                    passedOver[line] = 0
                } else if line < chosen {
                    passedOver[line] += 1
                }
            }
            return PriorityLane(rawValue: UInt8(chosen))
        }
    }

    /// - Parameter limit: How often in a row a priority may be passed over for higher ones before it has a turn; nil for
    ///   ever, as is documented of operation queues.
    public mutating func setAgeing(limit: Int?) { ageing = limit.map { Ageing(limit: $0) } }

    /// The line to serve next.
    @inline(__always)
    mutating func chooseLane() -> PriorityLane? { ageing == nil ? front.lanes.highest : chooseByAge() }

    @inline(never)
    private mutating func chooseByAge() -> PriorityLane? { ageing?.choose(among: front.lanes.occupied) }
}
