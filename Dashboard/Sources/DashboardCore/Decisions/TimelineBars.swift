/// The lanes of a timeline: bars of one lane do not overlap.
package struct TimelineBars: Sendable {
    package struct Bar: Sendable {
        package var id: Int64
        package var name: String
        package var state: String
        /// Seconds of the clock of the dashboard.
        package var start: Double
        package var end: Double
        package var lane = 0

        package init(id: Int64, name: String, state: String, start: Double, end: Double) {
            (self.id, self.name, self.state, self.start, self.end) = (id, name, state, start, end)
        }
    }

    package static let barLimit = 2000
    package private(set) var bars: [Bar]
    package let laneCount: Int

    /// Puts each bar into the first lane that is free. Of more than 2,000 bars, the latest remain.
    package init(_ all: [Bar]) {
        var bars = Array(all.sorted { ($0.start, $0.id) < ($1.start, $1.id) }.suffix(Self.barLimit))
        var ends: [Double] = []
        for index in bars.indices {
            let lane = ends.firstIndex { $0 <= bars[index].start } ?? ends.count
            if lane == ends.count { ends.append(0) }
            ends[lane] = bars[index].end
            bars[index].lane = lane
        }
        (self.bars, laneCount) = (bars, ends.count)
    }

    package func json(now: Double, seconds: Int) -> JSON {
        .members([
            "now": .decimal(now), "seconds": .number(seconds), "lanes": .number(laneCount),
            "bars": .list(
                bars.map { bar in
                    .members([
                        "id": .text(String(bar.id)), "name": .text(bar.name), "state": .text(bar.state),
                        "start": .decimal(bar.start), "end": .decimal(bar.end), "lane": .number(bar.lane),
                    ])
                }),
        ])
    }
}
