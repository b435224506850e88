import Dispatch
import Foundation
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

/// Runs a workflow in `directory` and returns the outcomes. A separate thread waits for the run, so the wait occupies no
/// thread that commands need.
func outcomes(
    of text: String, in directory: TemporaryDirectory, options: RunOptions = RunOptions(jobs: 4),
    handler: @escaping @Sendable (RunEvent) -> Bool = { _ in true },
    whenGateOpens: (@Sendable (WorkflowRun) -> Void)? = nil
) async throws -> [String: Outcome] {
    let file = WorkflowFile(text, base: directory.path)
    try #require(file.diagnostics == [])
    let run = try WorkflowRun(try #require(file.plan), options: options, handler: handler)
    if let whenGateOpens {
        let gate = directory.path + "/gate"
        try #require(mkfifo(gate, 0o600) == 0)
        Thread.detachNewThread {
            let opened = fopen(gate, "r")
            _ = opened.map { fgetc($0) }
            whenGateOpens(run)
        }
    }
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: run.run()) }
    }
    return Dictionary(uniqueKeysWithValues: result.conclusions.map { ($0.name, $0.outcome) })
}

private struct WeakSpool {
    weak var spool: OutputSpool?
}

@Suite(.timeLimit(.minutes(5)))
struct RunTests {
    #if os(Linux)
    /// In a process of its own, because other tests open descriptors meanwhile.
    @Test func `commands that have ended leave no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            func openDescriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            let directory = try TemporaryDirectory()
            let items = (1...40).map { "\($0)" }.joined(separator: ", ")
            let text = "operations: {f: {run: \"echo {item}\", each: [\(items)]}}"
            // The first run opens descriptors that the process keeps.
            var counts: [Int] = []
            for _ in 0..<2 {
                let outcomes = try await outcomes(of: text, in: directory)
                precondition(outcomes.count == 40 && outcomes.values.allSatisfy { $0 == .succeeded }, "\(outcomes)")
                counts.append(try openDescriptors())
            }
            precondition(counts[1] < counts[0] + 20, "\(counts)")
        }
    }
    #endif

    @Test func `operations run after their dependencies`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              last: {run: echo last >> log, after: [f, first]}
              f: {run: "echo f >> log", each: [1, 2], after: first}
              first: {run: echo first >> log}
            """
        let outcomes = try await outcomes(of: text, in: directory)
        #expect(outcomes.values.allSatisfy { $0 == .succeeded })
        #expect(try directory.text(of: "log") == "first\nf\nf\nlast\n")
    }

    /// A queue that starts operations as they arrive starts one before it has 100 of them.
    @Test func `the first operation of a queue is the one of the highest priority`() async throws {
        let numbers = (0..<100).map(String.init).joined(separator: ",")
        let text = """
            queues: {q: {concurrency: 1}}
            operations:
              low: {run: "echo low >> log", queue: q, priority: low, each: [\(numbers)]}
              high: {run: "echo high >> log", queue: q, priority: high}
            """
        let directory = try TemporaryDirectory()
        _ = try await outcomes(of: text, in: directory)
        #expect(try directory.text(of: "log") == "high\n" + String(repeating: "low\n", count: 100))
    }

    @Test func `a barrier that succeeded does not run again when the run is cancelled`() async throws {
        let text = """
            queues: {q: {concurrency: 1}}
            operations:
              barrier: {run: "echo run >> log", queue: q, barrier: true}
              long: {run: "echo > gate; sleep 100", queue: q}
            """
        let directory = try TemporaryDirectory()
        let outcomes = try await outcomes(of: text, in: directory, whenGateOpens: { $0.cancel() })
        #expect(outcomes == ["barrier": .succeeded, "long": .cancelled])
        #expect(try directory.text(of: "log") == "run\n")
    }

    @Test func `barriers that wait for operations of other queues hold no threads`() async throws {
        let count = 300
        let queues = (0..<count).map { "q\($0): " }.joined(separator: ", ")
        let barriers = (0..<count).map { "  b\($0): {run: x=1, queue: q\($0), barrier: true, after: slow}\n" }
        let text = "queues: {\(queues)}\noperations:\n  slow: {run: sleep 0.2}\n" + barriers.joined()
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory())
        #expect(outcomes.count == count + 1 && outcomes.values.allSatisfy { $0 == .succeeded })
        // Idle threads remain for some seconds.
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let threads = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }?.split(separator: "\t").last
        #expect(Int(threads ?? "") ?? .max < count)
    }

    @Test func `a handler that refuses every event cancels the run once`() {
        let calls = Guarded(0)
        let ledger = RunLedger(operationCount: 0) { _ in false }
        ledger.cancelRun { calls.withLock { $0 += 1 } }
        for shortage in [Shortage.descriptors, .processes] { ledger.note(shortage) }
        #expect(ledger.allConclusions(of: []).isEmpty)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `dependents of a failure are skipped, and other operations continue`() async throws {
        let text = """
            operations:
              bad: {run: exit 3}
              shot: {run: kill -9 $$}
              next: {run: x, after: bad}
              last: {run: x, after: next}
              good: {run: "true"}
              lost: {run: "true", directory: nowhere}
            """
        let directory = try TemporaryDirectory()
        #expect(
            try await outcomes(of: text, in: directory) == [
                "bad": .failed(.exit(3)), "shot": .failed(.signal(9)), "next": .skipped("dependency bad failed"),
                "last": .skipped("dependency next was skipped"), "good": .succeeded,
                "lost": .failed(.unstartable("there is no directory '\(directory.path)/nowhere'")),
            ])
    }

    @Test func `the first failed member of a family is why later families are skipped`() async throws {
        let text = """
            operations:
              f: {run: "test {item} = 1", each: [1, 2, 3]}
              g: {run: x, each: [a, b], after: f}
              h: {run: x, each: [a, b], after: [g, "f[1]"]}
              good: {run: "true", each: [a, b], after: "f[1]"}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory()) == [
                "f[1]": .succeeded, "f[2]": .failed(.exit(1)), "f[3]": .failed(.exit(1)),
                "g[a]": .skipped("dependency f[2] failed"), "g[b]": .skipped("dependency f[2] failed"),
                "h[a]": .skipped("dependency g[a] was skipped"), "h[b]": .skipped("dependency g[a] was skipped"),
                "good[a]": .succeeded, "good[b]": .succeeded,
            ])
    }

    /// A queue of its own for the end of the family once let the operations of low priority start first, in some of the runs.
    @Test func `the priority decides between a family after a family and other operations`() async throws {
        let text = """
            queues: {q: {concurrency: 1}}
            operations:
              c: {run: "echo c{item} >> log", each: [1, 2], queue: q, priority: low}
              a: {run: "echo a{item} >> log", each: [x, y], queue: q, priority: veryHigh}
              b: {run: "echo b{item} >> log", each: [x, y], queue: q, priority: veryHigh, after: a}
            """
        for _ in 0..<20 {
            let directory = try TemporaryDirectory()
            _ = try await outcomes(of: text, in: directory)
            #expect(try String(contentsOfFile: directory.path + "/log", encoding: .utf8) == "ax\nay\nbx\nby\nc1\nc2\n")
        }
    }

    @Test func `a barrier separates the operations before it from those after it`() async throws {
        let text = """
            queues: {q: {concurrency: 4}, other: }
            operations:
              a: {run: "read x < fifo; echo a >> log", queue: q, after: fifo}
              b: {run: "echo b >> log", queue: q, barrier: true, after: far}
              c: {run: "echo c >> log", queue: q}
              fifo: {run: "mkfifo fifo", queue: other}
              open: {run: "echo > fifo", queue: other, after: fifo}
              far: {run: "echo far >> log", queue: other, after: a}
              beyond: {run: "echo beyond >> log", queue: other, after: c}
            """
        let directory = try TemporaryDirectory()
        let outcomes = try await outcomes(of: text, in: directory)
        #expect(outcomes.values.allSatisfy { $0 == .succeeded })
        #expect(try directory.text(of: "log") == "a\nfar\nb\nc\nbeyond\n")
    }

    @Test func `operations queued after a failed barrier are skipped`() async throws {
        let text = """
            operations:
              bad: {run: exit 1, barrier: true}
              behind: {run: x}
              second: {run: x, barrier: true}
              last: {run: x}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory()) == [
                "bad": .failed(.exit(1)), "behind": .skipped("barrier bad failed"),
                "second": .skipped("barrier bad failed"), "last": .skipped("barrier second was skipped"),
            ])
    }

    @Test func `a queue respects its limit and starts the highest priority first`() async throws {
        let text = """
            queues: {q: {concurrency: 1}}
            operations:
              low: {run: echo low >> log, queue: q, priority: low}
              normal: {run: echo normal >> log, queue: q}
              high: {run: echo high >> log, queue: q, priority: veryHigh}
            """
        let directory = try TemporaryDirectory()
        _ = try await outcomes(of: text, in: directory)
        #expect(try directory.text(of: "log") == "high\nnormal\nlow\n")
    }

    @Test func `a command has its environment, and its output keeps its order`() async throws {
        let printed = Guarded("")
        let text = #"operations: {f: {run: 'echo 1; echo 2 >&2; printf "%s" "$X"', environment: {X: a b}}}"#
        _ = try await outcomes(of: text, in: TemporaryDirectory()) { event in
            guard case .ended(_, let spool?) = event else { return true }
            try? spool.read { chunk in printed.withLock { $0 += String(decoding: chunk, as: UTF8.self) } }
            return true
        }
        #expect(printed.withLock(\.self) == "1\n2\na b")
    }

    @Test func `the first failure can cancel the other operations`() async throws {
        let text = """
            operations:
              endless: {run: "echo > gate; exec sleep 1000", after: go}
              go: {run: "mkfifo gate"}
              bad: {run: "read x < gate; exit 1", after: go}
              next: {run: x, after: endless}
            """
        let outcomes = try await outcomes(
            of: text, in: TemporaryDirectory(), options: RunOptions(jobs: 4, stopPolicy: .now))
        #expect(outcomes == ["go": .succeeded, "bad": .failed(.exit(1)), "endless": .cancelled, "next": .cancelled])
    }

    @Test func `a handler that returns false cancels the other operations`() async throws {
        let text = "operations: {a: {run: 'true'}, b: {run: sleep 1000, after: a}}"
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory()) { _ in false }
        #expect(outcomes["b"] == .cancelled)
    }

    @Test func `an operation that has ended keeps neither its output nor its descriptor`() async throws {
        let spools = Guarded<[WeakSpool]>([])
        _ = try await outcomes(
            of: "operations: {f: {run: echo x, each: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}", in: TemporaryDirectory()
        ) {
            if case .ended(_, let spool?) = $0 { spools.withLock { $0.append(WeakSpool(spool: spool)) } }
            return true
        }
        #expect(spools.withLock(\.count) == 9)
        #expect(spools.withLock { $0.allSatisfy { $0.spool == nil } })
    }

    @Test func `the number of running commands is limited by the descriptors`() async throws {
        let text = """
            operations:
              f:
                run: for i in 1 2; do if mkdir s$i; then rmdir s$i; exit; fi; done; exit 1
                each: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
              end: {run: rm -r ., barrier: true}
            """
        var options = RunOptions(jobs: 8)
        options.commands = 2
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory(), options: options)
        #expect(outcomes.filter { $0.key != "end" }.allSatisfy { $0.value == .succeeded })
    }

    @Test func `a command leads a session without a terminal`() async throws {
        let text = #"""
            operations:
              leads: {run: 'read -r _ _ _ _ group session _ < /proc/$$/stat; test "$group $session" = "$$ $$"'}
              asks: {run: exec 3< /dev/tty}
            """#
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory())
        #expect(outcomes["leads"] == .succeeded)
        #expect(outcomes["asks"] != .succeeded)
    }

    @Test func `a command that stopped itself ends when it is cancelled`() async throws {
        let directory = try TemporaryDirectory()
        let text = "operations: {a: {run: 'echo $$ > pid; echo > gate; kill -STOP $$'}}"
        let outcomes = try await outcomes(of: text, in: directory) { _ in
            true
        } whenGateOpens: {
            $0.cancel()
        }
        #expect(outcomes == ["a": .cancelled])
        try await waitForEnd(of: directory.text(of: "pid"))
    }

    @Test func `a paused run continues after resuming`() async throws {
        let directory = try TemporaryDirectory()
        let text = "operations: {a: {run: 'echo > gate; read x < door'}, b: {run: 'true', after: a}}"
        try #require(mkfifo(directory.path + "/door", 0o600) == 0)
        let outcomes = try await outcomes(of: text, in: directory) { _ in
            true
        } whenGateOpens: {
            $0.pause()
            $0.resume()
            close(open(directory.path + "/door", O_WRONLY))
        }
        #expect(outcomes == ["a": .failed(.exit(1)), "b": .skipped("dependency a failed")])
    }

    @Test func `processes that a command leaves running end with it`() async throws {
        let directory = try TemporaryDirectory()
        let text = "operations: {a: {run: 'sleep 1000 & echo $! > pid'}}"
        #expect(try await outcomes(of: text, in: directory) == ["a": .succeeded])
        try await waitForEnd(of: directory.text(of: "pid"))
    }

    @Test func `cancelling ends grandchildren that ignore SIGTERM, and waiting barriers`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            queues: {p: , q: }
            operations:
              stubborn:
                queue: p
                run: sh -c 'trap "" TERM; echo $$ > pid; echo > gate; while :; do sleep 1; done' & wait
              barrier: {run: x, queue: p, barrier: true}
              behind: {run: x, queue: p}
              far: {run: x, queue: q, barrier: true, after: barrier}
            """
        let outcomes = try await outcomes(of: text, in: directory) { _ in
            true
        } whenGateOpens: {
            $0.cancel()
        }
        #expect(outcomes.values.allSatisfy { $0 == .cancelled })
        try await waitForEnd(of: directory.text(of: "pid"))
    }

    @Test func `killing does not wait for cleanup`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              stubborn: {run: "trap 'touch tidied' TERM; echo > gate; while :; do sleep 1; done"}
            """
        let outcomes = try await outcomes(of: text, in: directory) { _ in
            true
        } whenGateOpens: {
            $0.kill()
        }
        #expect(outcomes == ["stubborn": .cancelled])
    }

    /// Returns when the process has ended. The process was killed, but the kernel may still be removing it. A process that
    /// was not killed makes the test exceed its time limit.
    private func waitForEnd(of pid: String) async throws {
        while try isRunning(pid) { await Task.yield() }
    }

    private func isRunning(_ pid: String) throws -> Bool {
        let stat = try? String(contentsOfFile: "/proc/\(pid.dropLast())/stat", encoding: .utf8)
        // An orphan may stay a zombie until its new parent reaps it.
        return stat.map { !$0.contains(") Z ") } ?? false
    }
}
