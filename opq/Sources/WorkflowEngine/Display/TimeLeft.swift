/// An estimate of the time until the end of a run, from the durations of earlier commands.
///
/// The run takes at least as long as the longest chain of operations that wait for each other, and at least as long as the work
/// of each queue divided by its limit. The larger one of both is the estimate.
struct TimeLeft: Sendable {
    typealias Instant = RunProgress.Instant

    private let plan: WorkflowPlan
    private let limits: [String: Int]
    private var durations: [Duration?]
    /// The sum and the number of the known durations of each family.
    private var families: [String: (sum: Duration, count: Int)] = [:]
    private var all: (sum: Duration, count: Int) = (.zero, 0)
    /// The families that others wait for, and the positions among them of each operation.
    private let ranges: [Range<Int>]
    private var rangesOfMember: [Int: [Int]] = [:]
    /// The operation that follows each one in its longest chain.
    private(set) var following: [Int?] = []
    /// The time from the start of each operation to the end of the longest chain that begins with it.
    private var chains: [Duration] = []
    /// The operations in the order of their chains, the longest one first.
    private var order: [Int] = []
    private var endedCount = 0
    /// The number of ended operations at the last computation of the chains.
    private var computedCount = -1

    init(of plan: WorkflowPlan, limits: [String: Int], durations: [Duration?]) {
        self.plan = plan
        self.limits = limits
        self.durations = durations
        ranges = Array(Set(plan.operations.lazy.flatMap(\.awaited).filter { $0.count > 1 }))
        for (position, range) in ranges.enumerated() {
            for member in range { rangesOfMember[member, default: []].append(position) }
        }
        for index in durations.indices { count(durations[index], of: index) }
    }

    private mutating func count(_ duration: Duration?, of index: Int) {
        guard let duration else { return }
        let family = plan.operations[index].family
        let known = families[family] ?? (.zero, 0)
        families[family] = (known.sum + duration, known.count + 1)
        all = (all.sum + duration, all.count + 1)
    }

    /// Returns the duration of an operation in an earlier run. `nil` if none is known.
    func known(_ index: Int) -> Duration? { durations[index] }

    /// Takes the duration of an operation that has ended. `nil` if its command did not run.
    mutating func note(_ duration: Duration?, of index: Int) {
        endedCount += 1
        if durations[index] == nil { count(duration, of: index) }
        durations[index] = duration ?? .zero
    }

    private func duration(of index: Int) -> Duration {
        if let own = durations[index] { return own }
        if let family = families[plan.operations[index].family], family.count > 0 { return family.sum / family.count }
        // Without any duration, a chain with more operations counts as longer.
        return all.count > 0 ? all.sum / all.count : .seconds(1)
    }

    /// Returns the estimate. `nil` if no duration is known. O(operations), and O(links) after many ends.
    mutating func estimate(_ states: [RunProgress.State], at now: Instant) -> Duration? {
        guard all.count > 0 else { return nil }
        let (chain, queue) = bounds(states, at: now)
        return max(chain?.time ?? .zero, queue?.time ?? .zero)
    }

    /// Returns the chain of operations that ends last, and the queue whose work ends last, with the estimated times until then.
    /// `nil` if there is none. O(operations), and O(links) after many ends.
    mutating func bounds(
        _ states: [RunProgress.State], at now: Instant
    ) -> (chain: (first: Int, time: Duration)?, queue: (name: String, time: Duration)?) {
        // The means change little after the first ends.
        if computedCount < 0 || endedCount >= computedCount * 2 { computeChains() }
        var longest: (first: Int, time: Duration)?
        for index in order {
            if let longest, chains[index] <= longest.time { break }
            let time: Duration
            switch states[index] {
            case .waiting: time = chains[index]
            case .running(let since): time = chains[index] - min(now - since, duration(of: index))
            case .ended: continue
            }
            if longest.map({ time > $0.time }) ?? true { longest = (index, time) }
        }
        var work: [String: Duration] = [:]
        for (index, state) in states.enumerated() {
            let left: Duration
            switch state {
            case .waiting: left = duration(of: index)
            case .running(let since): left = max(duration(of: index) - (now - since), .zero)
            case .ended: continue
            }
            work[plan.operations[index].queue, default: .zero] += left
        }
        let times = work.map { (name: $0.key, time: $0.value / max(limits[$0.key] ?? 1, 1)) }
        return (longest, times.max { ($0.time, $1.name) < ($1.time, $0.name) })
    }

    private mutating func computeChains() {
        computedCount = max(endedCount, 4)
        typealias Next = (time: Duration, index: Int?)
        var after = [Next](repeating: (.zero, nil), count: plan.operations.count)
        var afterRange = [Next](repeating: (.zero, nil), count: ranges.count)
        let positions = Dictionary(zip(ranges, ranges.indices)) { $1 }
        chains = [Duration](repeating: .zero, count: plan.operations.count)
        following = [Int?](repeating: nil, count: plan.operations.count)
        for index in plan.possibleOrder.reversed() {
            var next = after[index]
            for position in rangesOfMember[index] ?? [] where afterRange[position].time > next.time {
                next = afterRange[position]
            }
            chains[index] = duration(of: index) + next.time
            following[index] = next.index
            for range in plan.operations[index].awaited {
                if let position = positions[range] {
                    if chains[index] > afterRange[position].time { afterRange[position] = (chains[index], index) }
                } else if chains[index] > after[range.lowerBound].time {
                    after[range.lowerBound] = (chains[index], index)
                }
            }
        }
        order = chains.indices.sorted { chains[$0] > chains[$1] }
    }
}
