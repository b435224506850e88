import Testing

@testable import WorkflowEngine

/// The decisions about a command that Slurm runs.
struct SlurmTaskTests {
    private static let start = ContinuousClock.now
    private let result = SlurmResult(end: CommandEnd(end: .exit(0), hasTimedOut: false), duration: .seconds(1))

    private func job(_ state: String, _ reason: String = "None") -> SlurmTask.Answer {
        .job(SlurmSighting(place: SlurmJobPlace(batch: "1-a", index: 0), state: state, reason: reason))
    }

    private func files(_ result: SlurmResult? = nil, isClaimed: Bool) -> SlurmTask.Files {
        SlurmTask.Files(result: result, isClaimed: isClaimed)
    }

    private func at(_ seconds: Int) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

    private func end(_ text: String, isLate: Bool = false) -> SlurmTask.Action {
        .finish(CommandEnd(end: .unknown(text), hasTimedOut: isLate), nil)
    }

    @Test(arguments: ["RUNNING", "COMPLETING", "COMPLETED", "NODE_FAIL", "FAILED", "CANCELLED"])
    func `a result ends a command, in each state of its job`(state: String) {
        var task = SlurmTask()
        #expect(
            task.look(job(state), files(result, isClaimed: true), at: at(0)) == .finish(result.end, result.duration))
        #expect(task.look(.none, files(result, isClaimed: true), at: at(0)) == .finish(result.end, result.duration))
        #expect(task.look(.missing, files(result, isClaimed: true), at: at(0)) == .finish(result.end, result.duration))
    }

    @Test func `a cancelled command ends when its job has left Slurm's end phase`() {
        var task = SlurmTask()
        task.end()
        #expect(task.look(job("COMPLETING"), files(result, isClaimed: true), at: at(0)) == .wait)
        #expect(
            task.look(job("CANCELLED"), files(result, isClaimed: true), at: at(1))
                == .finish(result.end, result.duration))
    }

    @Test func `a cancelled command that never started ends without a result`() {
        var task = SlurmTask()
        task.end()
        #expect(task.look(job("PENDING"), files(isClaimed: false), at: at(0)) == .wait)
        #expect(
            task.look(job("CANCELLED"), files(isClaimed: false), at: at(1))
                == end("Slurm ended the job as CANCELLED, and there is no result"))
    }

    @Test func `an ended job without a result is a failure, but not at once`() {
        var task = SlurmTask()
        #expect(task.look(job("COMPLETED"), files(isClaimed: true), at: at(0)) == .wait)
        #expect(task.look(job("COMPLETED"), files(isClaimed: true), at: at(14)) == .wait)
        #expect(
            task.look(job("COMPLETED"), files(isClaimed: true), at: at(15))
                == end("Slurm ended the job as COMPLETED, and there is no result"))
    }

    @Test func `the time limit of Slurm counts as one, and the reason of a failure is named`() {
        var task = SlurmTask()
        _ = task.look(job("TIMEOUT", "TimeLimit"), files(isClaimed: true), at: at(0))
        #expect(
            task.look(job("TIMEOUT", "TimeLimit"), files(isClaimed: true), at: at(15))
                == end("Slurm ended the job as TIMEOUT (TimeLimit), and there is no result", isLate: true))
    }

    @Test func `a controller that does not answer ends nothing`() {
        var task = SlurmTask()
        #expect(task.look(.none, files(isClaimed: true), at: at(0)) == .wait)
        #expect(task.look(.none, files(isClaimed: true), at: at(100_000)) == .wait)
    }

    @Test func `a job that Slurm lost before its start is submitted again, and one that may have started is not`() {
        var task = SlurmTask()
        for submission in 1..<SlurmTask.submissions {
            let start = submission * 100
            #expect(task.look(.missing, files(isClaimed: false), at: at(start)) == .wait)
            #expect(task.look(.missing, files(isClaimed: false), at: at(start + 15)) == .submit)
        }
        #expect(task.look(.missing, files(isClaimed: false), at: at(1000)) == .wait)
        #expect(
            task.look(.missing, files(isClaimed: false), at: at(1015))
                == end("Slurm has lost the job, and there is no result"))
        var claimed = SlurmTask()
        #expect(claimed.look(job("RUNNING"), files(isClaimed: true), at: at(0)) == .wait)
        #expect(claimed.look(.missing, files(isClaimed: true), at: at(1)) == .wait)
        #expect(
            claimed.look(.missing, files(isClaimed: true), at: at(16))
                == end("Slurm has forgotten the job, and there is no result"))
    }

    @Test func `a lost node may still write the result, so opq waits longer`() {
        var task = SlurmTask()
        #expect(task.look(job("NODE_FAIL", "NodeDown"), files(isClaimed: true), at: at(0)) == .wait)
        #expect(task.look(.missing, files(isClaimed: true), at: at(299)) == .wait)
        #expect(
            task.look(.missing, files(isClaimed: true), at: at(300))
                == end("Slurm ended the job as NODE_FAIL (NodeDown), and there is no result"))
    }

    @Test func `a job that ended for Slurm lives as long as its script gives signs of life`() {
        var task = SlurmTask()
        func alive(_ pulse: Int64) -> SlurmTask.Files { SlurmTask.Files(isClaimed: true, pulse: pulse) }
        for second in 0..<100 {
            #expect(task.look(job("FAILED", "NonZeroExitCode"), alive(Int64(second / 10)), at: at(second)) == .wait)
        }
        #expect(task.look(job("FAILED", "NonZeroExitCode"), alive(9), at: at(104)) == .wait)
        #expect(
            task.look(job("FAILED", "NonZeroExitCode"), alive(9), at: at(105))
                == end("Slurm ended the job as FAILED (NonZeroExitCode), and there is no result"))
    }

    @Test func `a job that waits again gets its time again`() {
        var task = SlurmTask()
        #expect(task.look(.missing, files(isClaimed: true), at: at(0)) == .wait)
        #expect(task.look(job("PENDING"), files(isClaimed: true), at: at(14)) == .wait)
        #expect(task.look(.missing, files(isClaimed: true), at: at(16)) == .wait)
    }

    // MARK: - Jobs of several commands

    /// The commands of a job: the first that has not started, and whether all end.
    private func sharers(head: Int, allEnd: Bool = false) -> SlurmSharers {
        var sharers = SlurmSharers()
        sharers.add(index: head, hasStarted: false, isEnding: allEnd)
        return sharers
    }

    @Test func `a command ends with its job if all commands of the job end, and alone otherwise`() {
        var task = SlurmTask()
        task.end()
        #expect(task.ending(sharers(head: 1, allEnd: true)) == .cancelJob)
        #expect(task.ending(sharers(head: 1)) == .stopCommand)
        task.withdraw()
        #expect(task.ending(sharers(head: 1)) == .finish)
        #expect(task.ending(sharers(head: 1, allEnd: true)) == .cancelJob)
    }

    @Test func `a command that ends alone does not wait for the others of its job`() {
        var task = SlurmTask()
        task.end()
        let files = files(result, isClaimed: true)
        #expect(task.look(job("RUNNING"), files, sharers(head: 1, allEnd: true), at: at(0)) == .wait)
        #expect(task.look(job("RUNNING"), files, sharers(head: 1), at: at(0)) == .finish(result.end, result.duration))
    }

    @Test func `a command that opq has claimed ends with its job, and without a result`() {
        var task = SlurmTask()
        task.end()
        task.withdraw()
        #expect(task.look(job("RUNNING"), files(isClaimed: true), .lone, at: at(0)) == .wait)
        #expect(
            task.look(job("CANCELLED"), files(isClaimed: true), .lone, at: at(1))
                == end("Slurm ended the job as CANCELLED, and there is no result"))
    }

    @Test(arguments: ["TIMEOUT", "OUT_OF_MEMORY", "FAILED", "PREEMPTED"])
    func `commands after the one with which their job ended are submitted again`(state: String) {
        var task = SlurmTask(head: 0)
        // Each job starts further commands, so there are more than the usual number of submissions.
        for (round, head) in [3, 4, 9, 20, 21].enumerated() {
            let start = round * 100
            #expect(task.look(job("RUNNING"), files(isClaimed: false), sharers(head: head), at: at(start)) == .wait)
            #expect(task.look(job(state), files(isClaimed: false), sharers(head: head), at: at(start + 1)) == .wait)
            #expect(task.look(job(state), files(isClaimed: false), sharers(head: head), at: at(start + 16)) == .submit)
        }
        #expect(task.look(job(state), files(isClaimed: false), sharers(head: 21), at: at(900)) == .wait)
        #expect(
            task.look(job(state), files(isClaimed: false), sharers(head: 21), at: at(915))
                == end("Slurm ended the job as \(state), and there is no result", isLate: state == "TIMEOUT"))
        var started = SlurmTask(head: 0)
        #expect(started.look(job(state), files(isClaimed: true), sharers(head: 3), at: at(0)) == .wait)
        #expect(
            started.look(job(state), files(isClaimed: true), sharers(head: 3), at: at(15))
                == end("Slurm ended the job as \(state), and there is no result", isLate: state == "TIMEOUT"))
    }

    @Test func `a job that a person cancels is not submitted again for the commands that it has not started`() {
        var task = SlurmTask(head: 0)
        #expect(task.look(job("CANCELLED"), files(isClaimed: false), sharers(head: 3), at: at(0)) == .wait)
        #expect(
            task.look(job("CANCELLED"), files(isClaimed: false), sharers(head: 3), at: at(15))
                == end("Slurm ended the job as CANCELLED, and there is no result"))
    }
}
