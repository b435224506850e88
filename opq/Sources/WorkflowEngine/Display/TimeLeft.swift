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
        return all.sum / max(all.count, 1)
    }

    /// Returns the estimate. `nil` if no duration is known. O(operations), and O(links) after many ends.
    mutating func estimate(_ states: [RunProgress.State], at now: Instant) -> Duration? {
        guard all.count > 0 else { return nil }
        // The means change little after the first ends.
        if computedCount < 0 || endedCount >= computedCount * 2 { computeChains() }
        var longest = Duration.zero
        for index in order {
            if chains[index] <= longest { break }
            switch states[index] {
            case .waiting: longest = max(longest, chains[index])
            case .running(let since):
                longest = max(longest, chains[index] - min(now - since, duration(of: index)))
            case .ended: break
            }
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
        return work.reduce(longest) { max($0, $1.value / max(limits[$1.key] ?? 1, 1)) }
    }

    private mutating func computeChains() {
        computedCount = max(endedCount, 4)
        var after = [Duration](repeating: .zero, count: plan.operations.count)
        var afterRange = [Duration](repeating: .zero, count: ranges.count)
        let positions = Dictionary(zip(ranges, ranges.indices)) { $1 }
        chains = after
        for index in plan.possibleOrder.reversed() {
            let ofFamilies = (rangesOfMember[index] ?? []).map { afterRange[$0] }.max() ?? .zero
            chains[index] = duration(of: index) + max(after[index], ofFamilies)
            for range in plan.operations[index].awaited {
                if let position = positions[range] {
                    afterRange[position] = max(afterRange[position], chains[index])
                } else {
                    after[range.lowerBound] = max(after[range.lowerBound], chains[index])
                }
            }
        }
        order = chains.indices.sorted { chains[$0] > chains[$1] }
    }
}
