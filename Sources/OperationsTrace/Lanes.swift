/// Places spans side by side: no two of a lane overlap. The lanes of a queue are as many as it ran operations at a time.
struct Lanes {
    /// Spans that ran, with the lane of their queue, in the order of their starts.
    private(set) var placed: [(span: OperationTrace.Span, lane: Int)] = []
    /// The queues in the order of their first spans, with the number of their lanes.
    private(set) var queues: [(name: String, lanes: Int)] = []

    init(_ spans: [OperationTrace.Span], end: Duration) {
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
