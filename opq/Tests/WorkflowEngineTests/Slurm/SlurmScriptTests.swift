import Glibc
import Testing

@testable import WorkflowEngine

/// The script of a job, run by `/bin/sh` without Slurm.
@Suite(.timeLimit(.minutes(1)))
struct SlurmScriptTests {
    /// A folder with a task, as a job sees it.
    private final class Job {
        let folder: SlurmFolder
        /// The tasks, of which the first is the one of a single command.
        let places: [SlurmPlace]
        let spool: OutputSpool
        private let store: RunStore
        let directory: TemporaryDirectory

        init(_ keys: String) throws {
            directory = try TemporaryDirectory(files: ["w.yml"])
            store = try RunStore(of: directory.path + "/w.yml")
            folder = try SlurmFolder(in: store)
            spool = SpoolDirectory().makeSpool()
            let plan = try plan(of: "operations: {a: {\(keys)}}", base: directory.path)
            let batch = try folder.makeBatch(run: 1, share: plan.operations.count)
            places = plan.operations.indices.map { SlurmPlace(batch: batch, index: $0) }
            for (place, operation) in zip(places, plan.operations) {
                let command = ExecutedCommand(
                    operation: operation, token: ProcessWatch.Token(number: 1), grace: .seconds(1), spool: spool,
                    started: { _ in }, ended: { _, _ in })
                try folder.write(command, at: place)
            }
        }

        var place: SlurmPlace { places[0] }
        var ends: [CommandEnd?] { places.map { folder.files(of: $0).result?.end } }
        var claims: [Bool] { places.map { folder.files(of: $0).isClaimed } }

        /// The shell command that runs the script.
        var call: String {
            "sh \(folder.script.quotedForShell) \(folder.path.quotedForShell)/\(place.batch) \(places.count) 0"
        }

        /// Runs the script, and returns its result and the output of the command.
        func run() throws -> (end: CommandEnd?, output: String) {
            // The script fails if it ran no command.
            _ = ShellOutput.run("exec \(call) 2> /dev/null", limit: 1 << 20)
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

    @Test func `commands of a job run one after another, also after a failure and a time limit`() throws {
        let job = try Job(
            """
            each: [a, fail, late, d], timeout: 1s,
            run: 'echo {item} >> all; case {item} in fail) exit 3 ;; late) sleep 1000 ;; esac'
            """)
        _ = try job.run()
        #expect(job.ends.map { $0?.end } == [.exit(0), .exit(3), .signal(15), .exit(0)])
        #expect(job.ends.map { $0?.hasTimedOut } == [false, false, true, false])
        #expect(try job.directory.text(of: "all") == "a\nfail\nlate\nd\n")
        _ = try job.run()
        #expect(try job.directory.text(of: "all") == "a\nfail\nlate\nd\n")
    }

    @Test func `a second job runs only the commands that no other has claimed, and opq may claim one too`() throws {
        let job = try Job("run: 'echo {item} >> all', each: [a, b, c, d]")
        #expect(job.folder.withdraw(job.places[1]))
        _ = try ShellOutput.run("mkdir '\(job.folder.path)/\(job.place.batch)/2/claim'", limit: 100).get()
        _ = try job.run()
        #expect(try job.directory.text(of: "all") == "a\nd\n")
        #expect(!job.folder.withdraw(job.places[0]))
    }

    /// The part of a command that asks the script to end it. The script sees the file after at most five seconds.
    private func stop(_ index: Int) -> String { "for f in .opq/w.yml/slurm/*-*/\(index); do : > $f/stop; done" }

    @Test func `the file stop ends one command of a job, and the next ones run`() throws {
        let job = try Job("run: 'echo {item} >> all; [ {item} != b ] || { \(stop(1)); sleep 1000; }', each: [a, b, c]")
        _ = try job.run()
        #expect(job.ends.map { $0?.end } == [.exit(0), .signal(15), .exit(0)])
        #expect(try job.directory.text(of: "all") == "a\nb\nc\n")
    }

    @Test func `a command that ignores the end by the file stop is killed after its grace`() throws {
        let job = try Job("run: 'trap : TERM; \(stop(0)); while :; do sleep 1; done', each: [a]")
        _ = try job.run()
        #expect(job.ends.map { $0?.end } == [.signal(9)])
    }

    @Test func `a signal to a job lets its command end, and starts no further one`() throws {
        let job = try Job(
            "run: 'echo {item} >> all; [ {item} != b ] || { while [ ! -s job ]; do :; done; kill -TERM $(cat job); }', each: [a, b, c]"
        )
        let text = "\(job.call) 2> /dev/null & echo $! > \(job.directory.path)/job; wait $!; echo $?"
        // The threads of tests may block signals, and a child inherits that.
        var (none, before) = (sigset_t(), sigset_t())
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let status = try ShellOutput.run(text, limit: 100).get().bytes
        #expect(String(decoding: status, as: UTF8.self) == "1\n")
        #expect(job.claims == [true, true, false] && job.ends[1]?.end == .exit(0))
        #expect(try job.directory.text(of: "all") == "a\nb\n")
    }

    @Test func `limits are whole seconds, rounded up`() throws {
        let plan = try plan(of: "operations: {a: {run: x, timeout: 1500ms}, b: {run: x}}")
        #expect(SlurmScript.limits(plan.operations[0], grace: .milliseconds(100)) == "2 1\n")
        #expect(SlurmScript.limits(plan.operations[1], grace: .seconds(3)) == "0 3\n")
    }
}
