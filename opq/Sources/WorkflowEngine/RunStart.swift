import CProcess
import Dispatch
import Glibc
import Operations
import SystemPackage

/// The system resources that a run acquires before it begins.
struct RunStart {
    /// The number of threads that a run needs beside those of its queues: those of the scheduler, one that prints, and one that
    /// draws the status.
    private static let threads = 6

    /// The watch that waits for the commands.
    let watch: ProcessWatch
    /// The directory of the files that hold the output of the commands.
    let spools: SpoolDirectory
    /// A requirement that limits the number of running commands to the number of available descriptors. `nil` if the
    /// concurrency limits of the queues are small enough.
    let requirement: OperationRequirement?
    /// The number of commands that may run at the same time. No queue needs a higher limit.
    let commands: Int
    /// Notes for the user.
    let notes: [String]

    /// Acquires the resources that a run of the plan needs.
    ///
    /// - Throws: `RunFailure` if a resource is not available.
    init(_ plan: WorkflowPlan, options: RunOptions) throws {
        let total = plan.queues.reduce(0) { sum, queue in
            let (total, overflows) = sum.addingReportingOverflow(queue.concurrency(jobs: options.jobs))
            return overflows ? .max : total
        }
        // The plan's operation count limits the number of commands, so the process's own limits need not be raised further.
        let most = plan.growsDuringRun ? total : min(total, plan.operations.count)
        let limits = plan.queues.map { $0.concurrency(jobs: options.jobs) }
        let secrets = Secrets(of: plan) { name in getenv(name).map { String(cString: $0) } }
        spools = SpoolDirectory(filter: secrets.filter)
        var isLimited = false
        let makeFlags = getenv("MAKEFLAGS").map { String(cString: $0) } ?? ""
        let jobserver = try Self.jobserver(of: plan, options, makeFlags: makeFlags)
        let possible = try options.commands ?? Self.commands(atMost: most, limits: limits, isLimited: &isLimited)
        // As make does for a recipe that it does not take for a make.
        commands = jobserver.isClosed ? 1 : possible
        notes =
            jobserver.isClosed
            ? ["make has closed its jobserver, so one command runs at a time; begin the recipe with '+', or use --jobs"]
            : []
        let pool = ResourcePool(["commands": commands])
        requirement = most > commands ? .units(1, of: "commands", in: pool) : nil
        do {
            watch = try ProcessWatch(adoptsOrphans: options.adoptsOrphans)
            do {
                // Without a limit of processes and threads, the check would only cost time.
                if isLimited { try Self.checkThreads() }
                try spools.makeFile().close()
                if let server = jobserver.server { watch.use(server) }
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

    /// Returns the jobserver of the make that runs this process, or an own one if the workflow offers one to its commands.
    ///
    /// - Throws: `RunFailure` if there is no descriptor for it.
    private static func jobserver(
        of plan: WorkflowPlan, _ options: RunOptions, makeFlags: String
    ) throws(RunFailure) -> (server: Jobserver?, isClosed: Bool) {
        // The jobs of a cluster are no load for this machine.
        guard options.place == .local else { return (nil, false) }
        let address = JobserverAddress(makeFlags: makeFlags)
        do {
            // A number of jobs on the command line counts more, as in make.
            if let address, options.jobs == nil { return (try Jobserver(address), false) }
            guard address == nil, plan.settings.offersJobserver else { return (nil, false) }
            let jobs = QueueDescription(name: QueueDescription.defaultName).concurrency(jobs: options.jobs)
            return (try Jobserver(jobs: jobs, flags: makeFlags), false)
        } catch is Jobserver.Closed {
            return (nil, true)
        } catch {
            throw RunFailure(description: (error as? Shortage)?.text ?? "\(error)")
        }
    }

    /// Returns the number of commands that the system's limits allow to run at the same time.
    ///
    /// - Parameter isLimited: Becomes `true` if there is a limit of processes and threads.
    /// - Throws: `RunFailure` if the limits allow no command.
    private static func commands(
        atMost most: Int, limits: [Int], isLimited: inout Bool
    ) throws(RunFailure) -> Int {
        let descriptors = DescriptorBudget.ofThisProcess(for: most)
        guard descriptors.commands > 0 else {
            throw RunFailure(
                description: "\(Shortage.descriptors.text); a run needs at least \(descriptors.leastLimit)")
        }
        let processes = ProcessBudget.ofThisProcess(threads: threads + 1, limits: limits, most: most)
        isLimited = processes != nil
        return min(descriptors.commands, processes?.commands ?? .max)
    }

    /// Checks that the process can start as many threads as a run needs. A run fails before it begins rather than in the
    /// middle.
    ///
    /// - Throws: `Shortage.processes`.
    private static func checkThreads() throws(Shortage) {
        let end = DispatchSemaphore(value: 0)
        var started = 0
        while started < threads {
            guard startThread(named: "opq-start", { end.wait() }) else { break }
            started += 1
        }
        // Each thread retains the semaphore, because a thread may use the semaphore after this function returned.
        for _ in 0..<started { end.signal() }
        if started < threads { throw .processes }
    }
}

extension QueueDescription {
    /// Returns the concurrency limit of the queue. A queue without a limit uses `jobs`, or the number of processors if `jobs`
    /// is `nil`.
    func concurrency(jobs: Int?) -> Int { concurrency ?? jobs ?? Self.processors }

    /// The number of processors that this process may use, by its affinity and by the quota of its control group.
    private static let processors = min(Int(cprocess_processors()), ControlGroups.current.processors ?? .max)
}
