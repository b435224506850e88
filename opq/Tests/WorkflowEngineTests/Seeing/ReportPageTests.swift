import Testing

@testable import WorkflowEngine

struct ReportPageTests {
    private static let timeline = "<style></style><p>1</p><svg></svg><table></table></body>"

    private func page(_ operations: [PlannedOperation], _ conclusions: [Conclusion], _ outputs: [String: String]) throws
        -> String
    {
        let plan = try plan(of: "operations: {a: {run: x}}")
        let result = RunResult(
            conclusions: conclusions, operations: operations, recordFailure: nil, wallTime: .zero, processorTime: .zero)
        let facts = RunFacts(
            of: plan, operations, [RunFacts.Span(name: "a", queue: "default", start: .zero, end: .seconds(1))], jobs: 1)
        return ReportPage.text(timeline: Self.timeline, facts, result, outputs: outputs, secrets: .none)
    }

    @Test func `a failure has its command and its output, and no text of a command is markup`() throws {
        let operation = PlannedOperation(
            name: "<b>", command: "echo </p><script>", directory: ".", queue: "default")
        let text = try page(
            [operation], [Conclusion(name: "<b>", outcome: .failed(.exit(3)))], ["<b>": "</pre><script>alert(1)</body>"]
        )
        #expect(text.contains("<summary>&lt;b&gt;: exit 3</summary>"))
        #expect(text.contains("echo &lt;/p&gt;&lt;script&gt;"))
        #expect(text.contains("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/body&gt;"))
        #expect(text.split(separator: "<script>").count == 2)
        #expect(text.contains("<h2>Queues</h2>"))
    }

    @Test func `a run without failures has no part for them`() throws {
        let text = try page([], [], [:])
        #expect(!text.contains("Failures") && text.contains("id=\"search\""))
    }
}
