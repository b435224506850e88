import Glibc
import Synchronization
import Testing
import WorkflowTestSupport

@testable import WorkflowEngine

/// Runs on a simulated cluster, whose jobs are run by `/bin/sh` when they are submitted.
@Suite(.timeLimit(.minutes(1)))
struct SlurmExecutorTests {
    /// A cluster that answers as Slurm does.
    private final class Cluster: Sendable {
        struct State {
            var lines: [String] = []
            var calls: [[String]] = []
            /// The answers to the next calls of `sbatch`.
            var failures: [SlurmTools.Output] = []
            /// Whether jobs wait.
            var isFull = false
            /// The calls of the script of the jobs that wait, and the folder of the last batch.
            var waiting: [String] = []
            var folder = ""
            var isSilent = false
        }

        let state = Mutex(State())

        var tools: SlurmTools { SlurmTools { self.answer($0) } }
        var calls: [[String]] { state.withLock(\.calls) }

        private func answer(_ words: [String]) -> SlurmTools.Output {
            state.withLock { $0.calls.append(words) }
            switch words[0] {
            case "sbatch": return submit(words)
            case "squeue":
                return state.withLock { state in
                    state.isSilent
                        ? SlurmTools.Output(end: .exit(1), text: "slurm_load_jobs error")
                        : SlurmTools.Output(end: .exit(0), text: state.lines.joined(separator: "\n"))
                }
            case "scancel":
                state.withLock { state in
                    state.lines = state.lines.map { $0.replacing("PENDING", with: "CANCELLED") }
                }
            default: break
            }
            return SlurmTools.Output(end: .exit(0), text: "")
        }

        /// Runs the jobs that wait.
        func runJobs() {
            for text in state.withLock(\.waiting) { _ = ShellOutput.run(text, limit: 1000) }
            state.withLock { state in
                state.lines = state.lines.map { $0.replacing("PENDING", with: "COMPLETED") }
            }
        }

        /// Whether a task of the last batch is claimed.
        func hasClaim(of index: Int) -> Bool {
            access("\(state.withLock(\.folder))/\(index)/claim", F_OK) == 0
        }

        private func submit(_ words: [String]) -> SlurmTools.Output {
            if let failure = state.withLock({ $0.failures.isEmpty ? nil : $0.failures.removeFirst() }) {
                return failure
            }
            let comment = words.first { $0.hasPrefix("--comment=") }?.dropFirst("--comment=".count) ?? ""
            let last = words.first { $0.hasPrefix("--array=") }?.split(whereSeparator: { "=-,".contains($0) }).last
            let indices = last.flatMap { Int($0) }.map { Array(0...$0) }
            let id = state.withLock(\.calls).count
            let isFull = state.withLock(\.isFull)
            let start = (words.firstIndex { $0.hasSuffix("/run") } ?? 0)
            for index in indices ?? [0] {
                let folder = words[start + 1].quotedForShell
                let text = "exec sh \(words[start].quotedForShell) \(folder) \(words[start + 2]) \(index) 2> /dev/null"
                if isFull {
                    state.withLock { state in
                        state.waiting.append(text)
                        state.folder = words[start + 1]
                    }
                } else {
                    _ = ShellOutput.run(text, limit: 1000)
                }
                let field = indices == nil ? "N/A" : "\(index)"
                let identifier = indices == nil ? "\(id)" : "\(id)_\(index)"
                let line = "\(comment)|\(field)|\(identifier)|\(isFull ? "PENDING" : "COMPLETED")|None"
                state.withLock { $0.lines.append(line) }
            }
            return SlurmTools.Output(end: .exit(0), text: "\(id)\n")
        }
    }

    /// The ends of commands that an executor runs.
    private final class Ends: Sendable {
        let state = Mutex<(ends: [String: CommandEnd], outputs: [String: String], starts: Int)>(([:], [:], 0))
        let stream = AsyncStream<Void>.makeStream()
    }

    /// Runs the operations of a workflow, and calls `body` when all are handed over.
    private func run(
        _ text: String, on cluster: Cluster, in directory: TemporaryDirectory, left: [ByteKey: SlurmFolder.Left] = [:],
        arraySize: Int = 1001, _ body: (SlurmExecutor, [ProcessWatch.Token]) throws -> Void = { _, _ in }
    ) async throws -> (ends: [String: CommandEnd], outputs: [String: String], starts: Int) {
        let plan = try plan(of: text, base: directory.path)
        let store = try RunStore(of: directory.path + "/w.yml")
        let folder = try SlurmFolder(in: store)
        let watch = try ProcessWatch()
        defer { watch.send(.stop) }
        var limits = SlurmTools.Limits()
        limits.arraySize = arraySize
        let loop = SlurmLoop(folder, cluster.tools, limits: limits, run: 2, left: left, totals: [], note: { _ in })
        let executor = try SlurmExecutor(loop, watch)
        let ends = Ends()
        var tokens: [ProcessWatch.Token] = []
        for operation in plan.operations {
            let spool = SpoolDirectory().makeSpool()
            tokens.append(watch.makeToken())
            try executor.start(
                ExecutedCommand(
                    operation: operation, token: tokens[tokens.count - 1], spool: spool,
                    started: { _ in ends.state.withLock { $0.starts += 1 } },
                    ended: { end, _ in
                        let output = (try? spool.tail(byteCount: 1000)) ?? []
                        ends.state.withLock { state in
                            state.ends[operation.name] = end
                            state.outputs[operation.name] = String(decoding: output, as: UTF8.self)
                        }
                        ends.stream.continuation.yield()
                    }))
        }
        try body(executor, tokens)
        var iterator = ends.stream.stream.makeAsyncIterator()
        for _ in plan.operations { await iterator.next() }
        executor.stop()
        return ends.state.withLock(\.self)
    }

    private func exit(_ status: Int32) -> CommandEnd { CommandEnd(end: .exit(status), hasTimedOut: false) }

    @Test func `each command runs once, with its status and its output, and a family is an array`() async throws {
        let cluster = Cluster()
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let text = "operations: {a: {run: 'echo {item} >> all; echo {item}', each: [x, y, z]}, b: {run: 'exit 3'}}"
        let result = try await run(text, on: cluster, in: directory)
        #expect(result.ends == ["a[x]": exit(0), "a[y]": exit(0), "a[z]": exit(0), "b": exit(3)])
        #expect(result.outputs["a[y]"] == "y\n" && result.starts == 4)
        #expect(try directory.text(of: "all").split(separator: "\n").sorted() == ["x", "y", "z"])
        #expect(cluster.calls.filter { $0[0] == "sbatch" }.count == 2)
    }

    @Test func `a family beyond the limit of arrays is divided`() async throws {
        let cluster = Cluster()
        let text = "operations: {a: {run: 'true', each: [1, 2, 3, 4, 5]}}"
        let result = try await run(text, on: cluster, in: TemporaryDirectory(files: ["w.yml"]), arraySize: 2)
        #expect(result.ends.count == 5 && result.ends.values.allSatisfy { $0 == exit(0) })
        #expect(cluster.calls.filter { $0[0] == "sbatch" }.count == 3)
    }

    @Test func `commands that share jobs each have their end, in as few jobs as possible`() async throws {
        let cluster = Cluster()
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let text = "operations: {a: {run: 'echo {item} >> all; exit {item}', each: [0, 1, 2, 3, 4, 5, 6], batch: 3}}"
        let result = try await run(text, on: cluster, in: directory)
        #expect(result.ends.count == 7 && result.starts == 7)
        for status in 0..<7 { #expect(result.ends["a[\(status)]"] == exit(Int32(status))) }
        #expect(try directory.text(of: "all") == "0\n1\n2\n3\n4\n5\n6\n")
        let submissions = cluster.calls.filter { $0[0] == "sbatch" }
        #expect(submissions.count == 1 && submissions.first?.contains("--array=0-2") == true)
    }

    @Test func `a command that ends before its job starts never runs, and the others of the job do`() async throws {
        let cluster = Cluster()
        cluster.state.withLock { $0.isFull = true }
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let text = "operations: {a: {run: 'echo {item} >> all', each: [0, 1, 2], batch: 3}}"
        let result = try await run(text, on: cluster, in: directory) { executor, tokens in
            until { !cluster.state.withLock(\.lines).isEmpty }
            executor.end(tokens[1], by: 15)
            until { cluster.hasClaim(of: 1) }
            cluster.runJobs()
        }
        #expect(result.ends["a[0]"] == exit(0) && result.ends["a[2]"] == exit(0))
        #expect(result.ends["a[1]"]?.end == .unknown("it was cancelled"))
        #expect(try directory.text(of: "all") == "0\n2\n" && result.starts == 2)
        #expect(!cluster.calls.contains { $0[0] == "scancel" })
    }

    @Test func `a job of which all commands end is cancelled, once`() async throws {
        let cluster = Cluster()
        cluster.state.withLock { $0.isFull = true }
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let text = "operations: {a: {run: 'touch made', each: [0, 1, 2], batch: 3}}"
        let result = try await run(text, on: cluster, in: directory) { executor, tokens in
            until { !cluster.state.withLock(\.lines).isEmpty }
            for token in tokens { executor.end(token, by: 15) }
        }
        #expect(result.ends.count == 3 && result.starts == 0)
        #expect(cluster.calls.filter { $0[0] == "scancel" }.count == 1)
        cluster.runJobs()
        #expect(access(directory.path + "/made", F_OK) != 0)
    }

    @Test func `an adopted task of an array that Slurm lost is submitted with its own index`() {
        let operation = PlannedOperation(name: "a", command: "x", directory: ".", queue: "q")
        let batch = SlurmBatch(name: "a", options: SlurmOptions(operation, totals: []), tasks: [0])
        let arguments = batch.arguments(batch: "1-x", in: "/f", jobs: [3], script: "/f/run")
        #expect(arguments.contains("--array=3") && arguments.last == "1")
    }

    @Test func `a submission that Slurm refuses fails, with the reason`() async throws {
        let cluster = Cluster()
        cluster.state.withLock {
            $0.failures = [SlurmTools.Output(end: .exit(1), text: "sbatch: error: invalid partition specified: x\n")]
        }
        let result = try await run(
            "operations: {a: {run: 'true'}}", on: cluster, in: TemporaryDirectory(files: ["w.yml"]))
        #expect(result.ends["a"]?.end == .unknown("sbatch: error: invalid partition specified: x"))
    }

    @Test func `a cancelled command that waits in Slurm ends`() async throws {
        let cluster = Cluster()
        cluster.state.withLock { $0.isFull = true }
        let result = try await run(
            "operations: {a: {run: 'touch made'}}", on: cluster, in: TemporaryDirectory(files: ["w.yml"])
        ) { executor, tokens in executor.end(tokens[0], by: 15) }
        #expect(result.ends.count == 1 && result.ends["a"] != exit(0))
        #expect(result.starts == 0)
    }

    @Test func `the job of a killed opq is taken, and its command does not run again`() async throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let text = "operations: {a: {run: 'echo x >> count; echo out'}}"
        let cluster = Cluster()
        _ = try await run(text, on: cluster, in: directory)
        let left: [SlurmFolder.Left]
        do {
            let store = try RunStore(of: directory.path + "/w.yml")
            left = try SlurmFolder(in: store).left
        }
        #expect(left.map(\.name) == ["a"])
        let result = try await run(text, on: cluster, in: directory, left: [ByteKey("a"): left[0]])
        #expect(result.ends == ["a": exit(0)] && result.outputs == ["a": "out\n"])
        #expect(try directory.text(of: "count") == "x\n")
    }

    @Test func `a job that was submitted in another state is not taken`() async throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let left = SlurmFolder.Left(place: SlurmPlace(batch: "1-x", index: 0), name: "a", state: "other")
        let result = try await run(
            "operations: {a: {run: 'echo x >> count'}}", on: Cluster(), in: directory, left: [ByteKey("a"): left])
        #expect(result.ends == ["a": exit(0)])
        #expect(try directory.text(of: "count") == "x\n")
    }
}
