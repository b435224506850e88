import Testing

@testable import WorkflowEngine

/// The script of a job, run by `/bin/sh` without Slurm.
@Suite(.timeLimit(.minutes(1)))
struct SlurmScriptTests {
    /// A folder with a task, as a job sees it.
    private final class Job {
        let folder: SlurmFolder
        let place: SlurmPlace
        let spool: OutputSpool
        private let store: RunStore
        let directory: TemporaryDirectory

        init(_ keys: String) throws {
            directory = try TemporaryDirectory(files: ["w.yml"])
            store = try RunStore(of: directory.path + "/w.yml")
            folder = try SlurmFolder(in: store)
            spool = SpoolDirectory().makeSpool()
            let plan = try plan(of: "operations: {a: {\(keys)}}", base: directory.path)
            place = SlurmPlace(batch: try folder.makeBatch(run: 1), index: 0)
            let command = ExecutedCommand(
                operation: plan.operations[0], token: ProcessWatch.Token(number: 1), grace: .seconds(1), spool: spool,
                started: { _ in }, ended: { _, _ in })
            try folder.write(command, at: place)
        }

        /// Runs the script, and returns its result and the output of the command.
        func run() throws -> (end: CommandEnd?, output: String) {
            let text =
                "exec sh \(folder.script.quotedForShell) \(folder.path.quotedForShell)/\(place.batch) 0 2> /dev/null"
            _ = try ShellOutput.run(text, limit: 1 << 20).get()
            folder.readOutput(of: place, into: spool)
            let output = String(decoding: try spool.tail(byteCount: 1 << 20), as: UTF8.self)
            return (folder.files(of: place).result?.end, output)
        }
    }

    @Test(
        arguments: [
            ("run: 'echo a; echo b > /dev/stderr; exit 3'", .exit(3), "a\nb\n"),
            ("run: 'kill -9 $$'", .signal(9), ""),
            ("run: [printf, '%s-', \"it's\", ' $HOME ']", .exit(0), "it's- $HOME -"),
            ("run: 'printf %s \"$OPQ_ITEM\"', each: [\"a'\\nb\"]", .exit(0), "a'\nb"),
            ("run: 'echo \"$X\"', environment: {X: 'a $b'}", .exit(0), "a $b\n"),
            ("run: 'sleep 1000 & echo left'", .exit(0), "left\n"), ("run: 'cat'", .exit(0), ""),
        ] as [(String, ProcessEnd, String)])
    func `a command runs with its words, its variables and its output`(keys: String, end: ProcessEnd, output: String)
        throws
    {
        let result = try Job(keys).run()
        #expect(result.end == CommandEnd(end: end, hasTimedOut: false))
        #expect(result.output == output)
    }

    @Test func `a command runs once, also if its job starts again`() throws {
        let job = try Job("run: 'echo x >> count'")
        _ = try job.run()
        _ = try job.run()
        #expect(try job.directory.text(of: "count") == "x\n")
        #expect(job.folder.files(of: job.place).isClaimed)
    }

    @Test func `a command that exceeds its time limit is ended with its processes`() throws {
        let result = try Job("run: 'sleep 1000; true', timeout: 1s").run()
        #expect(result.end?.hasTimedOut == true)
    }

    @Test func `a directory that a node does not have is named`() throws {
        let job = try Job("run: 'true'")
        let task = "\(job.folder.path)/\(job.place.batch)/0/task"
        _ = try ShellOutput.run("sed -i 's/^cd .* ||/cd \\/no\\/such\\/folder ||/' '\(task)'", limit: 100).get()
        #expect(try job.run().end?.end == .unknown("the node cannot enter the directory"))
    }

    @Test func `limits are whole seconds, rounded up`() throws {
        let plan = try plan(of: "operations: {a: {run: x, timeout: 1500ms}, b: {run: x}}")
        #expect(SlurmScript.limits(plan.operations[0], grace: .milliseconds(100)) == "2 1\n")
        #expect(SlurmScript.limits(plan.operations[1], grace: .seconds(3)) == "0 3\n")
    }
}
