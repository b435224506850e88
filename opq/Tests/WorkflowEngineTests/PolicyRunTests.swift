import Glibc
import Synchronization
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

/// Runs with time limits, retries, conditions and permitted failures.
@Suite(.timeLimit(.minutes(1)))
struct PolicyRunTests {
    @Test func `a command that exceeds its time limit fails, and its processes end`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              slow: {run: "timeout 1000 sleep 1000; true", timeout: 50ms}
              stubborn: {run: "trap '' TERM; sleep 1000", timeout: 50ms, grace: 50ms}
              fast: {run: "true", timeout: 1m}
            """
        #expect(
            try await outcomes(of: text, in: directory) == [
                "slow": .failed(.timedOut(.milliseconds(50))), "stubborn": .failed(.timedOut(.milliseconds(50))),
                "fast": .succeeded,
            ])
    }

    @Test func `a command runs again after a failure with a listed status, until it succeeds`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              third: {run: "echo x >> third; test $(wc -l < third) -eq 3 || exit 75", retries: {count: 2, on: [75]}}
              other: {run: "echo x >> other; exit 1", retries: {count: 2, on: [75]}}
              never: {run: "echo x >> never; exit 1", retries: 2}
            """
        #expect(
            try await outcomes(of: text, in: directory) == [
                "third": .succeeded, "other": .failed(.exit(1)), "never": .failed(.exit(1)),
            ])
        #expect(try ["third", "other", "never"].map { try directory.text(of: $0).utf8.count / 2 } == [3, 1, 3])
    }

    @Test func `delays of retries grow by their factor, and a command without a known end does not run again`() {
        var retries = Retries()
        (retries.count, retries.delay, retries.factor) = (3, .seconds(1), 2)
        #expect(
            (1...4).map { retries.delay(after: .exit(1), attempt: $0) } == [.seconds(1), .seconds(2), .seconds(4), nil])
        #expect(retries.delay(after: .signal(9), attempt: 1) == .seconds(1))
        #expect(retries.delay(after: .unstartable("x"), attempt: 1) == nil)
        #expect(retries.delay(after: .unknown("x"), attempt: 1) == nil)
        retries.statuses = [75]
        #expect(retries.delay(after: .exit(75), attempt: 1) == .seconds(1))
        #expect(retries.delay(after: .exit(1), attempt: 1) == nil)
        #expect(retries.delay(after: .signal(9), attempt: 1) == nil)
    }

    @Test func `a cancellation ends the wait for a retry`() async throws {
        let text = "operations: {a: {run: 'echo > gate; exit 1', retries: {count: 1, delay: 1h}}}"
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory(), whenGateOpens: { $0.cancel() })
        #expect(outcomes == ["a": .cancelled])
    }

    @Test func `ends of skipped operations that are not reported are recorded nevertheless`() async throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let items = (0..<20_000).map(String.init).joined(separator: ", ")
        let text = """
            operations:
              a: {run: "false"}
              b: {run: "true", after: a, each: [\(items)]}
              c: {run: "true", when: failure}
            """
        var options = RunOptions(jobs: 4)
        options.store = try RunStore(of: directory.path + "/w.yml")
        options.reportsSkips = false
        let reported = Mutex<[String]>([])
        let outcomes = try await outcomes(of: text, in: directory, options: options) { event in
            if case .ended(let conclusion, _) = event { reported.withLock { $0.append(conclusion.name) } }
            return true
        }
        #expect(reported.withLock(\.self) == ["a"])
        #expect(outcomes["b[19999]"] == .skipped("dependency a failed"))
        #expect(outcomes["c"] == .unneeded("no dependency failed"))
        options.store = nil
        let shown = try RunRecords(of: directory.path + "/w.yml").show(run: nil, names: [])
        #expect(shown.count == 20_002 && shown.contains { $0.hasPrefix("skipped  b[19999]") })
    }

    @Test func `an operation runs after a failure, in any case, or after a success`() async throws {
        let text = """
            operations:
              bad: {run: exit 1}
              good: {run: "true"}
              skipped: {run: "true", after: bad}
              onFailure: {run: "true", after: [bad, good], when: failure}
              afterSkip: {run: "true", after: skipped, when: failure}
              unneeded: {run: "true", after: good, when: failure}
              after: {run: "true", after: unneeded}
              always: {run: "true", after: [bad, unneeded], when: always}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory()) == [
                "bad": .failed(.exit(1)), "good": .succeeded, "skipped": .skipped("dependency bad failed"),
                "onFailure": .succeeded, "afterSkip": .succeeded, "unneeded": .unneeded("no dependency failed"),
                "after": .unneeded("dependency unneeded was not needed"), "always": .succeeded,
            ])
    }

    @Test func `an operation that may fail holds back no others, and the run is fine`() async throws {
        let text = "operations: {a: {run: exit 1, mayFail: true}, b: {run: 'true', after: a}}"
        let fine = Journal<Bool>()
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory(), options: RunOptions(stopPolicy: .now)) {
            if case .ended(let conclusion, _) = $0 { fine.append(conclusion.isFine) }
            return true
        }
        #expect(outcomes == ["a": .failed(.exit(1)), "b": .succeeded])
        #expect(fine.entries == [true, true])
    }

    @Test func `a run that stops soon ends the running commands in their own time, and starts no others`() async throws
    {
        let directory = try TemporaryDirectory()
        try #require(mkfifo(directory.path + "/door", 0o600) == 0)
        let text = """
            queues: {one: {concurrency: 1}, two: {concurrency: 1}}
            operations:
              running: {run: "read x < door; sleep 0.1; touch finished", queue: two}
              bad: {run: "echo > door; exit 1", queue: one}
              never: {run: touch started, queue: one}
            """
        let outcomes = try await outcomes(of: text, in: directory, options: RunOptions(stopPolicy: .soon))
        #expect(outcomes == ["running": .succeeded, "bad": .failed(.exit(1)), "never": .cancelled])
        #expect(access(directory.path + "/finished", F_OK) == 0)
        #expect(access(directory.path + "/started", F_OK) != 0)
    }

    @Test(arguments: [StopPolicy.soon, .now])
    func `operations that clean up run also if a failure stops the run`(_ policy: StopPolicy) async throws {
        let text = """
            queues: {one: {concurrency: 1}}
            operations:
              bad: {run: exit 1, queue: one}
              never: {run: "true", queue: one, priority: low}
              cleans: {run: "true", after: never, when: always}
              reports: {run: "true", after: never, when: failure}
              next: {run: "true", after: cleans}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory(), options: RunOptions(jobs: 1, stopPolicy: policy))
                == [
                    "bad": .failed(.exit(1)), "never": .cancelled, "cleans": .succeeded, "reports": .succeeded,
                    "next": .cancelled,
                ])
    }

    @Test func `an operation that does not make its output fails, and the outputs of a failed command are removed`()
        async throws
    {
        let directory = try TemporaryDirectory(files: ["old.o", "kept.o"])
        let text = """
            operations:
              nothing: {run: "true", outputs: [out]}
              half: {run: "echo x > half; echo x > d/new.o; exit 1", outputs: [half, "d/*.o"], after: folder, when: always}
              keeps: {run: "echo x > kept; exit 1", outputs: [kept], keepOutputs: true}
              folder: {run: "mkdir d; touch d/neighbor.o; cp d/neighbor.o d/old.o", outputs: [d/neighbor.o]}
              glob: {run: "true", outputs: ["*.missing"]}
            """
        #expect(
            try await outcomes(of: text, in: directory) == [
                "nothing": .failed(.missingOutput("out")), "half": .failed(.exit(1)), "keeps": .failed(.exit(1)),
                "folder": .succeeded, "glob": .failed(.missingOutput("*.missing")),
            ])
        func exists(_ name: String) -> Bool { access(directory.path + "/" + name, F_OK) == 0 }
        #expect(!exists("half"))
        // A file that a glob matches may be made by another program.
        #expect(exists("d/new.o"))
        #expect(exists("kept") && exists("d/neighbor.o") && exists("d/old.o"))
    }
}
