import Testing

@testable import WorkflowEngine

struct RunProgressTests {
    private let start = ContinuousClock.now

    private func progress(_ text: String, jobs: Int = 2, seconds: [String: Int] = [:]) throws -> RunProgress {
        let plan = try plan(of: text)
        return RunProgress(
            of: plan, jobs: jobs, durations: plan.operations.map { seconds[$0.name].map { .seconds($0) } })
    }

    private static let text = """
        operations:
          cc: { each: [a, b, c], run: "cc {item}" }
          link: { after: cc, run: "ld" }
          check: { after: link, run: "check" }
        """

    private func start(_ name: String, _ progress: inout RunProgress, at time: Int = 0) {
        let operation = progress.plan.operations.first { $0.name == name }!
        progress.note(.started(operation), at: start + .seconds(time))
    }

    private func end(_ name: String, _ progress: inout RunProgress, _ outcome: Outcome = .succeeded, seconds: Int = 1) {
        let conclusion = Conclusion(name: name, outcome: outcome, duration: .seconds(seconds))
        progress.note(.ended(conclusion, nil), at: start + .seconds(seconds))
    }

    @Test func `a family that is found during the run is one line with the number of its ended members`() throws {
        var progress = try progress("operations: { all: { run: x }, after: { after: all, run: y } }")
        let members = ["p", "q", "r"].map {
            PlannedOperation(name: "all[\($0)]", command: "", directory: ".", queue: "q")
        }
        progress.note(.expanded(progress.plan.operations[0], into: members), at: start)
        end("all[p]", &progress)
        // A second end of the same member does not count.
        end("all[p]", &progress)
        #expect(
            progress.lines(at: start + .seconds(4), on: TerminalForm()).prefix(2) == [
                "  all  1/3  4s", "  after waits for all",
            ])
        progress.note(.familyEnded(progress.plan.operations[0]), at: start + .seconds(5))
        #expect(
            progress.lines(at: start + .seconds(5), on: TerminalForm()).last?.hasSuffix("1/2  about 5s left") == true)
    }

    @Test func `the lines name the operations that run, those that wait with the reason, and the ended ones`() throws {
        var progress = try progress(Self.text)
        start("cc[a]", &progress)
        start("cc[b]", &progress)
        end("cc[a]", &progress)
        #expect(
            progress.lines(at: start + .seconds(65), on: TerminalForm()) == [
                "  cc[b]  1m05s", "  link waits for cc (2 left)", "  check waits for link",
                "[██████░░░░░░░░░░░░░░░░░░░░░░░░] 1/5  about 3s left",
            ])
        end("cc[b]", &progress, .failed(.exit(1)))
        let form = TerminalForm(columns: 50, rows: 9, isASCII: true, isColoured: true)
        #expect(
            progress.lines(at: start + .seconds(65), on: form).last
                == "[#######...........] 2/5  about 3s left\u{1B}[31m  1 failed\u{1B}[0m")
    }

    @Test func `no line is as wide as the terminal, and a small terminal has a part of the lines`() throws {
        var progress = try progress(Self.text.replacing("[a, b, c]", with: "[日本語のファイル, 'a\u{1F600}b', c]"), jobs: 9)
        for operation in progress.plan.operations.prefix(3) { progress.note(.started(operation), at: start) }
        for columns in 1...60 {
            for rows in 1...30 {
                let lines = progress.lines(at: start, on: TerminalForm(columns: columns, rows: rows))
                #expect(lines.allSatisfy { $0.columnCount < max(columns, 2) }, "\(columns): \(lines)")
                #expect(lines.count <= max(rows / 3, 1))
            }
        }
        #expect(
            progress.lines(at: start, on: TerminalForm(rows: 9)).prefix(2) == ["  cc[日本語のファイル]  0s", "  and 2 more"])
    }

    @Test func `the time left is that of the longest chain, or of the queue with the most work`() throws {
        let seconds = ["cc[a]": 10, "cc[b]": 4, "cc[c]": 4, "link": 3, "check": 2]
        var progress = try progress(Self.text, jobs: 4, seconds: seconds)
        #expect(progress.left(at: start) == .seconds(15))
        start("cc[a]", &progress)
        #expect(progress.left(at: start + .seconds(6)) == .seconds(9))
        // A command that takes longer than before does not make the estimate negative.
        #expect(progress.left(at: start + .seconds(600)) == .seconds(5 + 4))
        var narrow = try self.progress(Self.text, jobs: 1, seconds: seconds)
        #expect(narrow.left(at: start) == .seconds(23))
    }

    @Test func `an operation without a record takes as long as its family, or as long as the others`() throws {
        var unknown = try progress(Self.text)
        #expect(unknown.left(at: start) == nil)
        start("cc[a]", &unknown)
        end("cc[a]", &unknown, seconds: 6)
        #expect(unknown.left(at: start + .seconds(6)) == .seconds(18))
        #expect(unknown.lines(at: start, on: TerminalForm()).last?.hasSuffix("1/5  about 18s left") == true)
    }

    @Test func `an operation waits for its queue, a resource or a barrier`() throws {
        let text = """
            queues: { q: { concurrency: 1 } }
            operations:
              a: { queue: q, run: x }
              b: { queue: q, run: x }
              wall: { run: x, barrier: true }
              behind: { run: x }
              big: { run: x, resources: { memory: 1GB } }
            """
        var progress = try progress(text)
        start("a", &progress)
        let reasons = progress.waiting(atMost: 9).map { "\($0.name) \($0.reason)" }
        #expect(
            reasons == [
                "b waits for a place in the queue q", "wall waits for the operations before it",
                "behind waits for wall",
                "big waits for wall",
            ])
    }
}
