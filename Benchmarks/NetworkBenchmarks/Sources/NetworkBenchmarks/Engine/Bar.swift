/// A goal for a median.
struct Bar: Sendable {
    let text: String
    let measure: Measure
    /// Whether the goal is reached; nil if a figure is missing.
    let isReached: @Sendable (_ ours: Double, _ all: [Contender: Double]) -> Bool?
}

extension Bar {
    /// Returns a goal of at most this percentage above the time of a peer.
    static func within(percent: Double, of peer: Contender) -> Bar {
        Bar(text: "within \(Int(percent)) % of \(peer.rawValue)", measure: .time) { ours, all in
            all[peer].map { ours <= $0 * (1 + percent / 100) }
        }
    }

    static func ahead(of peer: Contender) -> Bar {
        Bar(text: "ahead of \(peer.rawValue)", measure: .time) { ours, all in all[peer].map { ours < $0 } }
    }

    static func atMost(_ limit: Double, _ measure: Measure) -> Bar {
        let text = limit == limit.rounded() ? "\(Int(limit))" : "\(limit)"
        return Bar(text: "at most \(text) \(measure.unit)", measure: measure) { ours, _ in ours <= limit }
    }
}
