/// An arrangement of spans in lanes, so that spans of one lane do not overlap. The number of a queue's lanes is the largest
/// number of operations that ran at the same time.
struct Lanes {
    /// The spans that ran, each with a lane of its queue, in the order of their starts.
    private(set) var placed: [(span: OperationTimeline.Span, lane: Int)] = []
    /// The queues in the order of their first spans, each with the number of its lanes.
    private(set) var queues: [(name: String, lanes: Int)] = []

    init(_ spans: [OperationTimeline.Span], end: Duration) {
        var ends: [String: [Duration]] = [:]
        for span in spans where !queues.contains(where: { $0.name == span.queue }) { queues.append((span.queue, 0)) }
        let started = spans.filter { $0.started != nil }.sorted { $0.started! < $1.started! }
        for span in started {
            var lanes = ends[span.queue] ?? []
            let lane = lanes.firstIndex { $0 <= span.started! } ?? lanes.count
            if lane == lanes.count { lanes.append(.zero) }
            lanes[lane] = span.finished ?? end
            ends[span.queue] = lanes
            placed.append((span, lane))
        }
        for index in queues.indices { queues[index].lanes = ends[queues[index].name]?.count ?? 0 }
    }
}
