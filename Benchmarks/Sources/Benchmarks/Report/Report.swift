import BenchmarkReport

/// The results of one run, with the machine and the scale.
struct Report: Codable {
    let machine: Machine
    let scale: Scale
    let lines: [LineResult]

    var text: String { "\(machine.text)\n\n\(Table(lines, repetitions: scale.repetitions).text)\n\n\(legend)" }

    private var legend: String {
        let figures = lines.flatMap(\.figures)
        let hasFew = figures.contains { !$0.samples.isEmpty && $0.samples.count < scale.repetitions }
        return [
            "Medians of \(scale.repetitions) repetitions. The contenders take turns."
                + (scale == .quick ? " Quick: small sizes." : ""),
            "±: half of the range of the repetitions. Ratios: time relative to Operations.",
            hasFew ? "×n: only n repetitions." : nil,
            figures.contains { $0.crashes > 0 && !$0.samples.isEmpty }
                ? "†: the process crashed after the measurement, while it released the operations." : nil,
        ].compactMap { $0 }.joined(separator: "\n")
    }
}
