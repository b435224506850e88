import OperationsPrimitives

/// An arrangement of spans in lanes, so that spans of one lane do not overlap. The number of a queue's lanes is the largest
/// number of operations that ran at the same time.
struct Lanes {
    /// The spans that ran, each with a lane of its queue, in the order of their starts.
    private(set) var placed: [(span: OperationTimeline.Span, lane: Int)] = []
    /// The queues in the order of their first spans, each with the number of its lanes.
    private(set) var queues: [(name: String, lanes: Int)] = []

    /// O(n log n).
    init(_ spans: [OperationTimeline.Span], end: Duration) {
        var lanes: [String: LanesOfQueue] = [:]
        for span in spans where lanes[span.queue] == nil {
            lanes[span.queue] = LanesOfQueue()
            queues.append((span.queue, 0))
        }
        let started = spans.filter { $0.started != nil }.sorted { $0.started! < $1.started! }
        for span in started {
            let lane = lanes[span.queue, default: LanesOfQueue()].take(from: span.started!, to: span.finished ?? end)
            placed.append((span, lane))
        }
        for index in queues.indices { queues[index].lanes = lanes[queues[index].name]?.count ?? 0 }
    }
}

private struct LanesOfQueue {
    private(set) var count = 0
    private var taken = RankedHeap<Duration, Int>()
    private var free = RankedHeap<Int, Int>()

    /// Returns the first lane that is free from `start` on. Called in the order of the starts.
    mutating func take(from start: Duration, to end: Duration) -> Int {
        while let first = taken.first, first.rank <= start {
            free.insert(first.element, at: first.element)
            taken.popFirst()
        }
        let lane = free.popFirst() ?? count
        count = max(count, lane + 1)
        taken.insert(lane, at: end)
        return lane
    }
}
