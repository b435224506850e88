/// The result of a run as a file in the form of JUnit, which continuous integration reads.
public enum JUnitReport {
    /// Returns the text of the file.
    ///
    /// - Parameters:
    ///   - outputs: The ends of the outputs of failed operations, by the names of the operations.
    public static func text(of result: RunResult, title: String, outputs: [String: String]) -> String {
        func count(_ isCounted: (Outcome) -> Bool) -> Int { result.conclusions.count { isCounted($0.outcome) } }
        let failures = result.conclusions.count { conclusion in
            if case .failed = conclusion.outcome { !conclusion.isTolerated } else { false }
        }
        let skipped = count { outcome in
            switch outcome {
            case .skipped, .unneeded, .cancelled: true
            case .succeeded, .upToDate, .failed: false
            }
        }
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites><testsuite name=\"\(title.visible.escapedForXML)\" tests=\"\(result.conclusions.count)\" "
                + "failures=\"\(failures)\" errors=\"0\" skipped=\"\(skipped)\" time=\"\(seconds(result.wallTime))\">",
        ]
        for conclusion in result.conclusions { lines.append(line(for: conclusion, outputs)) }
        return (lines + ["</testsuite></testsuites>", ""]).joined(separator: "\n")
    }

    private static func line(for conclusion: Conclusion, _ outputs: [String: String]) -> String {
        let family = String(conclusion.name.prefix { $0 != "[" })
        let start =
            "<testcase name=\"\(conclusion.name.visible.escapedForXML)\" classname=\"\(family.visible.escapedForXML)\" "
            + "time=\"\(seconds(conclusion.duration ?? .zero))\""
        switch conclusion.outcome {
        case .succeeded, .upToDate: return start + "/>"
        case .failed(let failure):
            let text = RunReport.text(of: failure).visible.escapedForXML
            if conclusion.isTolerated {
                return start + "><system-out>failed as it may: \(text)</system-out></testcase>"
            }
            let output = (outputs[conclusion.name] ?? "").escapedForXML
            return start + "><failure message=\"\(text)\">\(output)</failure></testcase>"
        case .skipped(let reason), .unneeded(let reason):
            return start + "><skipped message=\"\(reason.visible.escapedForXML)\"/></testcase>"
        case .cancelled: return start + "><skipped message=\"cancelled\"/></testcase>"
        }
    }

    private static func seconds(_ duration: Duration) -> String { String(duration.seconds.dropLast()) }
}
