import BenchmarkReport

/// The results of one run, with the machine and the versions.
struct Report: Codable {
    let machine: Machine
    /// The versions that the other programs report.
    let versions: [String]
    let scale: Scale
    let repetitions: Int
    let lines: [LineResult]
    /// The contenders that were skipped, with reasons.
    let absent: [String]

    var text: String {
        ([machine.text, versions.joined(separator: "; "), Table(self).text] + notes).joined(separator: "\n\n") + "\n"
    }

    var notes: [String] {
        [
            "Medians of \(repetitions) repetitions with contenders in rotating order; ±: half the distance from the "
                + "least to the greatest. nginx with one worker serves on the same machine. Times of programs include "
                + "their start." + (scale == .quick ? " Quick: small sizes." : "")
        ] + absent
    }
}
