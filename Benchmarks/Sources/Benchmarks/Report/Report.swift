import BenchmarkReport

/// Everything one run has found out, and where.
struct Report: Codable {
    let machine: Machine
    let scale: Scale
    let lines: [LineResult]

    var text: String { "\(machine.text)\n\n\(Table(lines, repetitions: scale.repetitions).text)\n\n\(legend)" }

    private var legend: String {
        let figures = lines.flatMap(\.figures)
        let hasFew = figures.contains { !$0.samples.isEmpty && $0.samples.count < scale.repetitions }
        return [
            "Medians of \(scale.repetitions) repetitions that take turns."
                + (scale == .quick ? " Quick: small sizes." : ""),
            "±: half the distance from the least to the greatest. Ratios: how many times as long as Operations.",
            hasFew ? "×n: of n repetitions only." : nil,
            figures.contains { $0.crashes > 0 && !$0.samples.isEmpty }
                ? "†: the process crashed after the figure, while it let go of the operations." : nil,
        ].compactMap { $0 }.joined(separator: "\n")
    }
}
