import Testing

@testable import WorkflowEngine

struct HoldUpTests {
    private let start = ContinuousClock.now

    private func progress(_ text: String, jobs: Int, seconds: [String: Int] = [:]) throws -> RunProgress {
        let plan = try plan(of: text)
        return RunProgress(
            of: plan, jobs: jobs, durations: plan.operations.map { seconds[$0.name].map { .seconds($0) } })
    }

    private func start(_ names: [String], _ progress: inout RunProgress) {
        for operation in progress.plan.operations where names.contains(operation.name) {
            progress.note(.started(operation), at: start)
        }
    }

    private static let text = """
        operations:
          fetch: { run: fetch }
          lint: { run: lint }
          cc: { each: [a, b, c], after: fetch, run: "cc {item}" }
          link: { after: cc, run: "ld" }
          check: { after: link, run: "check" }
        """

    @Test func `the running operation at the beginning of the longest chain holds the run up`() throws {
        var progress = try progress(
            Self.text, jobs: 8,
            seconds: ["fetch": 5, "lint": 9, "cc[a]": 1, "cc[b]": 4, "cc[c]": 1, "link": 2, "check": 2])
        #expect(HoldUp(of: &progress, at: start) == nil, "nothing runs yet")
        start(["fetch", "lint"], &progress)
        let now = start + .seconds(2)
        #expect(
            HoldUp(of: &progress, at: now)
                == .operation(
                    name: "fetch", running: .seconds(2), usual: .seconds(5), waiters: 5,
                    chain: ["cc[b]", "link", "check"]))
        #expect(
            HoldUp(of: &progress, at: now)?.text
                == "The run cannot end before fetch: it runs for 2.00s, usually 5.00s, and 5 operations wait for it, "
                + "the longest chain: cc[b] → link → check.")
    }

    @Test func `without durations of earlier runs, the chain with the most operations counts`() throws {
        var progress = try progress(Self.text, jobs: 8)
        start(["fetch", "lint"], &progress)
        guard case .operation(let name, _, nil, 5, let chain) = HoldUp(of: &progress, at: start) else {
            Issue.record("no operation")
            return
        }
        #expect(name == "fetch" && chain.first?.hasPrefix("cc[") == true && chain.dropFirst() == ["link", "check"])
    }

    @Test func `a full queue whose work ends last holds the run up`() throws {
        let text = """
            operations:
              cc: { each: [a, b, c, d, e, f], run: "cc {item}" }
            """
        var progress = try progress(text, jobs: 2)
        start(["cc[a]", "cc[b]"], &progress)
        guard case .queue(let name, limit: 2, waiting: 4)? = HoldUp(of: &progress, at: start) else {
            Issue.record("no queue")
            return
        }
        let rest = "it runs 2 operations at a time, and 4 others wait in it."
        #expect(
            HoldUp(of: &progress, at: start)?.text == "The run is held up by the queue \(name): \(rest)")
        // A place is free for a moment.
        progress.note(.ended(Conclusion(name: "cc[a]", outcome: .succeeded, duration: .seconds(1)), nil), at: start)
        #expect(HoldUp(of: &progress, at: start)?.text.contains("4 others wait") == true)
    }

    @Test func `a queue whose operations wait for others does not hold the run up`() throws {
        let text = """
            operations:
              first: { run: first }
              cc: { each: [a, b, c, d, e, f], after: first, run: "cc {item}" }
            """
        var progress = try progress(text, jobs: 2)
        start(["first"], &progress)
        guard case .operation(let name, _, _, 6, _)? = HoldUp(of: &progress, at: start) else {
            Issue.record("no operation")
            return
        }
        #expect(name == "first")
    }

    @Test func `the last operation holds the run up, and no operation waits for it`() throws {
        var progress = try progress("operations: { only: { run: only } }", jobs: 2)
        start(["only"], &progress)
        #expect(
            HoldUp(of: &progress, at: start + .seconds(3))?.text
                == "The run cannot end before only: it runs for 3.00s, and no operation waits for it.")
    }

    @Test func `two families of 20,000 operations are counted without their product`() throws {
        let text = """
            operations:
              first: { run: first }
              a: { each: { from: 1, to: 20000 }, after: first, run: "a {item}" }
              b: { each: { from: 1, to: 20000 }, after: a, run: "b {item}" }
            """
        let lists = text.replacing(
            "{ from: 1, to: 20000 }", with: "[\((1...20000).map(String.init).joined(separator: ", "))]")
        var progress = try progress(lists, jobs: 2)
        start(["first"], &progress)
        #expect(progress.waiterCount(of: 0) == 40_000)
    }
}
