/// The parts of a run on a Slurm cluster.
struct SlurmRun: Sendable {
    let executor: SlurmExecutor
    /// The concurrency limit of queues for which the file sets none.
    let jobs: Int
    private let folder: SlurmFolder

    /// Ends or keeps the jobs of earlier runs, and starts the executor.
    ///
    /// - Parameters:
    ///   - resumes: Whether the run continues the last one, and takes the jobs that a killed opq has left.
    ///   - note: Receives a line for the user.
    /// - Throws: `RunFailure` if Slurm does not answer, or if the workflow cannot run there.
    init(
        _ plan: WorkflowPlan, in store: RunStore?, resumes: Bool, _ watch: ProcessWatch,
        note: @escaping @Sendable (String) -> Void
    ) throws(RunFailure) {
        guard let store else {
            throw RunFailure(description: "--on slurm needs a workflow file in a folder that can be written")
        }
        if let operation = plan.operations.first(where: { $0.settings.capture != nil }) {
            throw RunFailure(
                description: "'\(operation.name)' captures its output, which a job of Slurm cannot; write it to a file")
        }
        if let operation = plan.operations.first(where: \.settings.usesTerminal) {
            throw RunFailure(description: "'\(operation.name)' needs the terminal, which a job of Slurm does not have")
        }
        let tools = SlurmTools(watch)
        let limits = try tools.limits()
        do throws(SlurmFolder.Failure) { folder = try SlurmFolder(in: store) } catch {
            throw RunFailure(description: error.text)
        }
        let ends = store.history.lastEnds
        let names = resumes ? Set(plan.operations.map { ByteKey($0.name) }) : []
        let left = SlurmLeft.divide(folder.left, names: names) { name, run in ends[name].map { $0 >= run } ?? false }
        let keptJobs = Set(left.adoptable.values.map(\.place.job))
        guard left.others.isEmpty || SlurmLeft.end(left.others, keeping: keptJobs, in: folder, tools, note) else {
            throw RunFailure(description: "the jobs of an earlier run on Slurm cannot be ended")
        }
        let kept = Set(left.adoptable.values.map(\.place.batch))
        for batch in Set(left.others.map(\.place.batch)).subtracting(kept) { folder.remove(batch) }
        // Other users have jobs too.
        jobs = max(limits.jobs / 2, 1)
        let loop = SlurmLoop(
            folder, tools, limits: limits, run: (store.history.runs.last?.number ?? 0) + 1, left: left.adoptable,
            totals: Set(plan.settings.resources.keys), note: note)
        executor = try SlurmExecutor(loop, watch)
    }

    /// Ends the executor, and removes the files of all jobs. The journal has their ends.
    func finish() {
        executor.stop()
        for batch in Set(folder.left.map(\.place.batch)) { folder.remove(batch) }
        folder.removeIfEmpty()
    }
}

extension RunHistory {
    /// The number of the last run in which each operation has ended.
    var lastEnds: [ByteKey: Int] {
        var ends: [ByteKey: Int] = [:]
        for run in runs {
            for end in run.ends { ends[ByteKey(end.name)] = run.number }
        }
        return ends
    }
}

extension RunJournal.Prepared {
    /// The state before a command as a text. A job that was submitted in another state is not taken for the command.
    var stateText: String {
        let digest = Digest(
            of: [fingerprint.digest.text] + inputs.flatMap { [$0.path, "\($0.content)"] })
        return digest.text
    }
}
