import BenchmarkReport

/// Everything one run has found out, and where.
struct Report: Codable {
    let machine: Machine
    /// What stands against us, by their own words.
    let versions: [String]
    let scale: Scale
    let repetitions: Int
    let lines: [LineResult]
    /// What was left out, and why.
    let absent: [String]

    var text: String {
        ([machine.text, versions.joined(separator: "; "), Table(self).text] + notes).joined(separator: "\n\n") + "\n"
    }

    var notes: [String] {
        [
            "Medians of \(repetitions) repetitions in which the contenders take turns; ±: half the distance from the "
                + "least to the greatest. nginx with one worker sends, on the same machine. Programs are timed with "
                + "their start." + (scale == .quick ? " Quick: small sizes." : "")
        ] + absent
    }
}
