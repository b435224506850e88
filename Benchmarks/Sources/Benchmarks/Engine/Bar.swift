import BenchmarkReport

/// A requirement for a line.
struct Bar: Sendable {
    let text: String
    /// Compares medians with the requirement; nil if a figure is missing.
    let isReached: @Sendable (_ line: Medians, _ previousLine: Medians?) -> Bool?
}

/// The median of each contender that has figures.
typealias Medians = [Contender: Double]

extension Bar {
    /// The peer takes at least `factor` times as long as this package.
    static func faster(than peer: Contender, by factor: Double) -> Bar {
        Bar(text: "≥ \(factor.brief)× \(peer.rawValue)") { line, _ in line.ratio(to: peer).map { $0 >= factor } }
    }

    /// This package takes at most this part of the peer's time.
    static func takes(atMost part: Double, of peer: Contender) -> Bar {
        Bar(text: "≤ \(part.brief)× \(peer.rawValue)'s time") { line, _ in line.ratio(to: peer).map { 1 / $0 <= part } }
    }

    static func atMost(_ limit: Double, _ unit: Unit) -> Bar {
        Bar(text: "≤ \(limit.brief) \(unit.rawValue)") { line, _ in line[.operations].map { $0 <= limit } }
    }

    static func atLeast(_ limit: Double, _ unit: Unit) -> Bar {
        Bar(text: "≥ \(limit.brief) \(unit.rawValue)") { line, _ in line[.operations].map { $0 >= limit } }
    }

    /// This package takes at most `factor` times as long as in the line above.
    static func times(atMost factor: Double) -> Bar {
        Bar(text: "≤ \(factor.brief)× the line above") { line, previous in
            guard let base = previous?[.operations], let ours = line[.operations] else { return nil }
            return ours <= factor * base
        }
    }

    /// An operation costs at most twice as much as in the line above, whose size is about ten times smaller. A quadratic cost
    /// would be about ten times as high. Caches alone may add half of the cost.
    static let linear = Bar(text: "linear") { line, previous in
        guard let small = previous?[.operations], let large = line[.operations] else { return nil }
        return large <= 2 * small
    }
}

extension Medians {
    /// Returns the peer's time divided by the time of this package.
    func ratio(to peer: Contender) -> Double? {
        guard let ours = self[.operations], let theirs = self[peer] else { return nil }
        return theirs / ours
    }
}
