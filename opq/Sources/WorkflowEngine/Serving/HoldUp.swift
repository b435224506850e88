/// The operation, or the queue, without which a run would end sooner.
enum HoldUp: Equatable {
    /// A running operation at the beginning of the chain that ends last.
    ///
    /// - Parameters:
    ///   - running: The time since its start.
    ///   - usual: Its duration in an earlier run.
    ///   - waiters: The number of operations that directly or indirectly wait for it.
    ///   - chain: The names of the first operations that follow in the chain.
    case operation(name: String, running: Duration, usual: Duration?, waiters: Int, chain: [String])
    /// A queue that has more operations ready than places, and whose work ends last.
    case queue(name: String, limit: Int, waiting: Int)

    /// Finds it. `nil` if no operation runs.
    init?(of progress: inout RunProgress, at now: RunProgress.Instant) {
        let (chain, queue) = progress.timeLeft.bounds(progress.states, at: now)
        let plan = progress.plan
        if let queue, queue.time > chain?.time ?? .zero, let limit = progress.limits[queue.name] {
            let waiting = progress.states.indices.filter {
                progress.states[$0] == .waiting && plan.operations[$0].queue == queue.name
            }
            // Between two short operations, a place is free for a moment.
            let used = progress.running.count { plan.operations[$0].queue == queue.name }
            if used + progress.readyCount(of: waiting, atMost: limit + 1) > limit {
                self = .queue(name: queue.name, limit: limit, waiting: waiting.count)
                return
            }
        }
        // The chain may begin with an operation that is about to start.
        guard let first = chain?.first, case .running(let since) = progress.states[first] else { return nil }
        var names: [String] = []
        var next = progress.timeLeft.following[first]
        while let index = next, names.count < 4 {
            names.append(plan.operations[index].name)
            next = progress.timeLeft.following[index]
        }
        self = .operation(
            name: plan.operations[first].name, running: now - since, usual: progress.usualDuration(of: first),
            waiters: progress.waiterCount(of: first), chain: names)
    }

    /// A sentence for a person.
    var text: String {
        switch self {
        case .operation(let name, let running, let usual, let waiters, let chain):
            let times = "runs for \(running.seconds)" + (usual.map { ", usually \($0.seconds)" } ?? "")
            let last = "The run cannot end before \(name.visible): it \(times)"
            guard let first = chain.first else { return last + ", and no operation waits for it." }
            let rest = waiters == 1 ? "1 operation waits" : "\(waiters) operations wait"
            let path = chain.count > 1 ? ", the longest chain: \(chain.map(\.visible).joined(separator: " → "))" : ""
            return last + ", and \(rest) for it" + (path.isEmpty ? ": \(first.visible)." : path + ".")
        case .queue(let name, let limit, let waiting):
            let places = limit == 1 ? "1 operation" : "\(limit) operations"
            let rest = waiting == 1 ? "1 other waits" : "\(waiting) others wait"
            return "The run is held up by the queue \(name.visible): it runs \(places) at a time, and \(rest) in it."
        }
    }
}

extension RunProgress {
    /// The number of operations that wait for no other operation, at most `limit`. O(operations and links).
    func readyCount(of indices: [Int], atMost limit: Int) -> Int {
        var known: [Range<Int>: Bool] = [:]
        var count = 0
        for index in indices where count < limit {
            let operation = plan.operations[index]
            let ahead = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
            let isReady = (operation.awaited + ahead).allSatisfy { range in
                if let known = known[range] { return known }
                let hasEnded = range.allSatisfy { states[$0] == .ended }
                if range.count > 1 { known[range] = hasEnded }
                return hasEnded
            }
            if isReady { count += 1 }
        }
        return count
    }

    /// The number of operations that wait for an operation, also by others. O(operations and links).
    func waiterCount(of first: Int) -> Int {
        var isMarked = [Bool](repeating: false, count: states.count)
        var marked: Set<Range<Int>> = []
        var clear: Set<Range<Int>> = []
        isMarked[first] = true
        var count = 0
        for index in plan.possibleOrder where index != first && states[index] != .ended {
            let operation = plan.operations[index]
            let ahead = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
            for range in operation.awaited + ahead where !isMarked[index] && !clear.contains(range) {
                // All members come before this operation in the order, so their marks do not change any more. A family is searched
                // once, and not for each operation that waits for it.
                isMarked[index] = marked.contains(range) || range.contains { isMarked[$0] }
                guard range.count > 1 else { continue }
                if isMarked[index] { marked.insert(range) } else { clear.insert(range) }
            }
            if isMarked[index] { count += 1 }
        }
        return count
    }
}
