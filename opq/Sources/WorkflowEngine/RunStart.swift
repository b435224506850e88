import CProcess
import Dispatch
import Operations

/// What a run needs of the system before it begins.
struct RunStart {
    /// The threads a run cannot do without: those of the scheduler, one that prints, one that draws the status.
    private static let threads = 6

    /// Waits for the commands.
    let watch: ProcessWatch
    /// Holds what they print.
    let spools = SpoolDirectory()
    /// Keeps operations waiting while as many commands run as there are descriptors for; `nil` if the widths do that.
    let requirement: OperationRequirement?

    /// Sees to all that a run of the plan needs.
    ///
    /// - Throws: `RunFailure`.
    init(_ plan: WorkflowPlan, options: RunOptions) throws {
        let width = plan.queues.reduce(0) { sum, queue in
            let (width, overflows) = sum.addingReportingOverflow(queue.width(jobs: options.jobs))
            return overflows ? .max : width
        }
        // No more can run than there are; nor need the limit be raised for more.
        let most = min(width, plan.operations.count)
        let commands = try options.commands ?? Self.commands(atMost: most)
        let pool = try ResourcePool(["commands": commands])
        requirement = most > commands ? try .units(1, of: "commands", in: pool) : nil
        do {
            watch = try ProcessWatch()
            do {
                try Self.checkThreads()
                _ = try spools.makeSpool()
            } catch {
                watch.send(.stop)
                throw error
            }
        } catch let shortage as Shortage {
            throw RunFailure(description: shortage.text)
        } catch let failure as StartFailure {
            throw RunFailure(description: failure.text)
        }
    }

    /// How many commands may run at a time with what the system has to give.
    ///
    /// - Throws: `RunFailure` if that is none.
    private static func commands(atMost most: Int) throws(RunFailure) -> Int {
        let descriptors = DescriptorBudget.ofThisProcess(for: most)
        guard descriptors.commands > 0 else {
            throw RunFailure(
                description: "\(Shortage.descriptors.text); a run needs at least \(descriptors.leastLimit)")
        }
        let processes = ProcessBudget.ofThisProcess(for: min(descriptors.commands, most), threads: threads + 1)
        return min(descriptors.commands, processes?.commands ?? .max)
    }

    /// Starts as many threads as a run needs, and ends them: better to fail now than to wait for one later.
    ///
    /// - Throws: `Shortage.processes`.
    private static func checkThreads() throws(Shortage) {
        let end = DispatchSemaphore(value: 0)
        var started = 0
        while started < threads {
            guard startThread(named: "opq-start", { end.wait() }) else { break }
            started += 1
        }
        // Each thread keeps the semaphore: it may still look at it when this has returned.
        for _ in 0..<started { end.signal() }
        if started < threads { throw .processes }
    }
}

extension QueueDescription {
    /// How many operations of the queue run at a time if its width is left open to `jobs` or the number of processors.
    func width(jobs: Int?) -> Int { width ?? jobs ?? Self.processors }

    /// The processors that this process may use.
    private static let processors = Int(cprocess_processors())
}
