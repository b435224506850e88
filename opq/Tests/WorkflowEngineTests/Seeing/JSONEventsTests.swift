import Foundation
import Testing

@testable import WorkflowEngine

struct JSONEventsTests {
    private static let result = RunResult(
        conclusions: [
            Conclusion(name: "a[\"]", outcome: .succeeded, duration: .milliseconds(1500)),
            Conclusion(name: "b", outcome: .failed(.exit(3)), duration: .seconds(1)),
            Conclusion(name: "c", outcome: .failed(.exit(3)), isTolerated: true),
            Conclusion(name: "d", outcome: .skipped("dependency b failed")),
        ], recordFailure: nil, wallTime: .seconds(2), processorTime: .zero)

    @Test func `each event is an object of JSON on a line`() throws {
        let spool = OutputSpool(in: SpoolDirectory())
        "x\n\u{1}\u{FF}".utf8CString.dropLast().withUnsafeBytes { spool.append($0) }
        let events = Self.result.conclusions.map { RunEvent.ended($0, spool) } + [.short("no \\ space")]
        let lines = events.map { JSONEvents.line(for: $0) } + [JSONEvents.line(for: Self.result)]
        for line in lines {
            #expect(!line.contains("\n"))
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
        }
        #expect(lines[1].contains(#""outcome":"failed","reason":"exit 3","output":"x\n\u0001"#))
        #expect(lines[1].hasSuffix(#","seconds":1.00}"#))
        #expect(
            lines.last
                == #"{"event":"finished","seconds":2.00,"counts":{"failed":1,"failedAsItMay":1,"skipped":1,"succeeded":1}}"#
        )
    }

    @Test func `the file of JUnit has each operation, with the failures and their output`() {
        let text = JUnitReport.text(of: Self.result, title: "t", outputs: ["b": "why <it> failed"])
        #expect(text.contains(#"<testsuite name="t" tests="4" failures="1" errors="0" skipped="1" time="2.00">"#))
        #expect(text.contains(#"<testcase name="a[&quot;]" classname="a" time="1.50"/>"#))
        #expect(text.contains(#"<failure message="exit 3">why &lt;it&gt; failed</failure>"#))
        #expect(text.contains(#"<skipped message="dependency b failed"/>"#))
        #expect(text.contains("failed as it may: exit 3"))
    }
}
