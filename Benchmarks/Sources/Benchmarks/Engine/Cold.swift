extension Line {
    /// The work of a line, done once in a fresh process, with the release of everything. Users meet a library this way first.
    ///
    /// - Parameters:
    ///   - count: The number of operations.
    ///   - excluded: The contenders that are left out, because one repetition takes many seconds.
    func cold(operations count: Int, without excluded: [Contender] = []) -> Line {
        Line(
            work: "the same once, in a fresh process, with the release", unit: unit,
            entries: entries.filter { !excluded.contains($0.contender) }.map { $0.cold(operations: count) },
            moonshots: [.times(atMost: 1.5)], isCold: true)
    }
}

extension Entry {
    fileprivate func cold(operations count: Int) -> Entry {
        Entry(contender: contender, isInChild: true) { [measure] in
            let time = ContinuousClock().measure {
                // Released before the clock stops.
                _ = measure()
            }
            return Sample(figure: time / .nanoseconds(1) / Double(count))
        }
    }
}
