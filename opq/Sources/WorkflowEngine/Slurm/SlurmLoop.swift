/// The commands that were handed to Slurm, and the actions on them. One thread uses it.
struct SlurmLoop {
    enum Message: Sendable {
        case start(ExecutedCommand)
        case end(ProcessWatch.Token)
        case kill(ProcessWatch.Token)
    }

    struct Task {
        let command: ExecutedCommand
        let place: SlurmPlace
        let job: SlurmJobPlace
        let batch: SlurmBatch
        /// The identifier from `sbatch`. `nil` until the job is submitted, and for an adopted job.
        var identifier: String?
        var life: SlurmTask
        var hasStarted = false
        /// The identifiers of the jobs that may have started the command.
        var starters: Set<String> = []
        var nextSubmission: ContinuousClock.Instant?
        var lastCancel: ContinuousClock.Instant?

        init(_ command: ExecutedCommand, at place: SlurmPlace, in batch: SlurmBatch) {
            (self.command, self.place, self.batch) = (command, place, batch)
            job = place.job
            life = SlurmTask(head: job.index * batch.share)
        }
    }

    /// The pause between two questions for the states of all jobs.
    static let pause = Duration.seconds(1)
    /// The pause before a job is submitted again after a failure that passes, and before it is cancelled again.
    static let retryPause = Duration.seconds(5)

    let folder: SlurmFolder
    let tools: SlurmTools
    let note: @Sendable (String) -> Void
    private let limits: SlurmTools.Limits
    private let runNumber: Int
    private let totals: Set<String>
    private var left: [ByteKey: SlurmFolder.Left]
    var tasks: [ProcessWatch.Token: Task] = [:]
    private var new: [ExecutedCommand] = []
    var nextLook = ContinuousClock.now
    /// Whether the last question to Slurm had no answer.
    var isSilent = false

    /// - Parameters:
    ///   - left: The jobs of a killed opq that may be adopted, by the names of their operations.
    ///   - totals: The resources that opq limits itself.
    ///   - note: Receives a line for the user.
    init(
        _ folder: SlurmFolder, _ tools: SlurmTools, limits: SlurmTools.Limits, run: Int,
        left: [ByteKey: SlurmFolder.Left], totals: Set<String>, note: @escaping @Sendable (String) -> Void
    ) {
        (self.folder, self.tools, self.limits, self.left) = (folder, tools, limits, left)
        (runNumber, self.totals, self.note) = (run, totals, note)
    }

    /// The command that was handed over last, if it is not submitted.
    var lastNew: ExecutedCommand? { new.last }

    /// The time until the next question to Slurm. `nil` if there is nothing to ask for.
    var timeToNextLook: Duration? { tasks.isEmpty ? nil : max(nextLook - ContinuousClock.now, .zero) }

    /// The commands of each job. Those of a killed opq that the run may still adopt do not end.
    var sharers: [SlurmJobPlace: SlurmSharers] {
        var sharers: [SlurmJobPlace: SlurmSharers] = [:]
        for task in tasks.values {
            sharers[task.job, default: SlurmSharers()].add(
                index: task.place.index, hasStarted: task.hasStarted || task.life.isWithdrawn,
                isEnding: task.life.isEnding)
        }
        for task in left.values where sharers[task.place.job] != nil {
            sharers[task.place.job]?.add(index: task.place.index, hasStarted: true, isEnding: false)
        }
        return sharers
    }

    mutating func act(on messages: [Message]) {
        var ending: [ProcessWatch.Token] = []
        var isKill = false
        for message in messages {
            switch message {
            case .start(let command): new.append(command)
            case .end(let token), .kill(let token):
                if let index = new.firstIndex(where: { $0.token == token }) {
                    let command = new.remove(at: index)
                    fail(command, "it was cancelled")
                    continue
                }
                guard tasks[token] != nil else { continue }
                tasks[token]?.life.end()
                ending.append(token)
                if case .kill = message { isKill = true }
                nextLook = .now
            }
        }
        guard !ending.isEmpty else { return }
        let sharers = sharers
        var cancelled: Set<String> = []
        for token in ending {
            guard var task = tasks[token] else { continue }
            if end(&task, [task.identifier].compactMap(\.self), sharers, &cancelled) {
                tasks[token] = nil
            } else {
                tasks[token] = task
            }
        }
        tools.cancel(cancelled.sorted(), isKill: isKill)
    }

    /// Ends the jobs of a killed opq whose operations this run did not start.
    func endLeft() {
        if !left.isEmpty { SlurmLeft.end(Array(left.values), in: folder, tools, note) }
    }

    /// Ends a command that was asked to end: with its job if all commands of it end, and alone otherwise.
    ///
    /// - Parameter jobs: The identifiers of the jobs that run the command or may start it.
    /// - Returns: Whether the command has ended. It has not started then.
    func end(
        _ task: inout Task, _ jobs: [String], _ sharers: [SlurmJobPlace: SlurmSharers], _ cancelled: inout Set<String>
    ) -> Bool {
        task.lastCancel = .now
        // A job on a node that Slurm does not reach would start it later.
        if !task.hasStarted, folder.withdraw(task.place) { task.life.withdraw() }
        switch task.life.ending(sharers[task.job] ?? .lone) {
        case .cancelJob: cancelled.formUnion(jobs)
        case .stopCommand: folder.stop(task.place)
        case .finish:
            fail(task.command, "it was cancelled")
            return true
        }
        return false
    }

    // MARK: - Submission

    /// Takes the jobs of a killed opq for those commands for which nothing has changed since. Ends the other jobs first, all at
    /// once: of a job that several commands share, the next one would start as soon as one has ended.
    ///
    /// - Returns: The commands that need a job.
    private mutating func adopt(_ commands: [ExecutedCommand]) -> [ExecutedCommand] {
        var outdated: [SlurmFolder.Left] = []
        var others: [ExecutedCommand] = []
        for command in commands {
            let found = left.removeValue(forKey: ByteKey(command.operation.name))
            guard let found, found.state == command.prepared?.stateText ?? "" else {
                if let found { outdated.append(found) }
                others.append(command)
                continue
            }
            note("\(command.operation.name) continues in the job that an earlier opq has submitted")
            let batch = SlurmBatch(
                name: found.name, options: SlurmOptions(command.operation, grace: command.grace, totals: totals),
                share: found.place.share, tasks: [0])
            tasks[command.token] = Task(command, at: found.place, in: batch)
            nextLook = .now
        }
        let kept = tasks.values.map(\.job) + left.values.map(\.place.job)
        if !outdated.isEmpty { SlurmLeft.end(outdated, keeping: Set(kept), in: folder, tools, note) }
        return others
    }

    mutating func submitNew() {
        guard !self.new.isEmpty else { return }
        let new = adopt(self.new)
        self.new = []
        let described = new.map { command in
            SlurmBatch.Member(
                name: command.operation.name, family: command.operation.family,
                options: SlurmOptions(command.operation, grace: command.grace, totals: totals),
                share: command.operation.settings.batch)
        }
        for batch in SlurmBatch.divide(described, largest: limits.arraySize) {
            do throws(SlurmFolder.Failure) {
                let name = try folder.makeBatch(run: runNumber, share: batch.share)
                var written: [ProcessWatch.Token: Task] = [:]
                for (index, position) in batch.tasks.enumerated() {
                    let place = SlurmPlace(batch: name, index: index)
                    do throws(SlurmFolder.Failure) {
                        try folder.write(new[position], at: place)
                        written[new[position].token] = Task(new[position], at: place, in: batch)
                    } catch {
                        fail(new[position], error.text)
                    }
                }
                submit(written)
            } catch {
                for position in batch.tasks { fail(new[position], error.text) }
            }
        }
    }

    /// Submits tasks of one batch.
    mutating func submit(_ some: [ProcessWatch.Token: Task]) {
        guard let first = some.values.first else { return }
        let jobs = Set(some.values.map(\.job.index))
        let arguments = first.batch.arguments(
            batch: first.place.batch, in: folder.path, jobs: jobs, script: folder.script)
        let output = tools.run(arguments)
        let identifier = output.success.flatMap { SlurmTools.identifier(in: $0) }
        if identifier == nil, !SlurmTools.isPassing(output) {
            for (token, task) in some {
                tasks[token] = nil
                fail(task.command, "sbatch: \(output.reason)")
            }
            return
        }
        if identifier == nil { note("sbatch: \(output.reason); trying again") }
        for (token, task) in some {
            var task = task
            task.identifier = identifier.map { SlurmBatch.isArray(jobs) ? "\($0)_\(task.job.index)" : $0 }
            task.nextSubmission = identifier == nil ? .now + Self.retryPause : nil
            tasks[token] = task
        }
        nextLook = min(nextLook, .now + Self.pause / 2)
    }

    func fail(_ command: ExecutedCommand, _ text: String) {
        command.ended(CommandEnd(end: .unknown(text), hasTimedOut: false), .zero)
    }
}
