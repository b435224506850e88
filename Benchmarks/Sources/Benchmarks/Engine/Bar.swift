import BenchmarkReport

/// What a line must reach.
struct Bar: Sendable {
    let text: String
    /// Judges by medians; nil where a figure is missing.
    let isReached: @Sendable (_ line: Medians, _ previousLine: Medians?) -> Bool?
}

/// The median of each contender that gave figures.
typealias Medians = [Contender: Double]

extension Bar {
    /// The peer takes at least so many times as long as we do.
    static func faster(than peer: Contender, by factor: Double) -> Bar {
        Bar(text: "≥ \(factor.brief)× \(peer.rawValue)") { line, _ in line.ratio(to: peer).map { $0 >= factor } }
    }

    /// We take at most this part of the peer's time.
    static func takes(atMost part: Double, of peer: Contender) -> Bar {
        Bar(text: "≤ \(part.brief)× \(peer.rawValue)'s time") { line, _ in line.ratio(to: peer).map { 1 / $0 <= part } }
    }

    static func atMost(_ limit: Double, _ unit: Unit) -> Bar {
        Bar(text: "≤ \(limit.brief) \(unit.rawValue)") { line, _ in line[.operations].map { $0 <= limit } }
    }

    static func atLeast(_ limit: Double, _ unit: Unit) -> Bar {
        Bar(text: "≥ \(limit.brief) \(unit.rawValue)") { line, _ in line[.operations].map { $0 >= limit } }
    }

    /// We take at most so many times as long as in the line above.
    static func times(atMost factor: Double) -> Bar {
        Bar(text: "≤ \(factor.brief)× the line above") { line, previous in
            guard let base = previous?[.operations], let ours = line[.operations] else { return nil }
            return ours <= factor * base
        }
    }

    /// An operation costs at most twice what it costs in the line above, which is about ten times smaller. A cost that
    /// grows with the square would be about ten times as high; caches alone may well cost half as much again.
    static let linear = Bar(text: "linear") { line, previous in
        guard let small = previous?[.operations], let large = line[.operations] else { return nil }
        return large <= 2 * small
    }
}

extension Medians {
    /// How many times as long as we the peer takes.
    func ratio(to peer: Contender) -> Double? {
        guard let ours = self[.operations], let theirs = self[peer] else { return nil }
        return theirs / ours
    }
}
