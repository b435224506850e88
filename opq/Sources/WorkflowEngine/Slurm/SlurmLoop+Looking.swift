/// The questions to Slurm, and the actions on its answers.
extension SlurmLoop {
    /// Asks Slurm for all jobs, at most once in a while.
    mutating func lookIfDue() {
        guard ContinuousClock.now >= nextLook else { return }
        if !tasks.isEmpty { look() }
        nextLook = ContinuousClock.now + Self.pause
    }

    /// Asks Slurm for all jobs, and acts on each task.
    private mutating func look() {
        let jobs = tools.jobs()
        if jobs == nil, !isSilent { note("Slurm does not answer; its jobs continue") }
        isSilent = jobs == nil
        let now = ContinuousClock.now
        let sharers = sharers
        var cancelled: Set<String> = []
        var again: [String: [ProcessWatch.Token: Task]] = [:]
        for (token, task) in tasks {
            var task = task
            let found = jobs?[task.job] ?? []
            let job = SlurmSharers.sighting(in: found, starters: task.starters)
            let answer: SlurmTask.Answer = jobs == nil ? .none : job.map { .job($0) } ?? .missing
            let files = job?.isPending == true ? SlurmTask.Files() : folder.files(of: task.place)
            if let next = task.nextSubmission, !files.isClaimed, found.isEmpty {
                // The job was not accepted, as far as Slurm answers.
                if task.life.isEnding, jobs != nil {
                    tasks[token] = nil
                    fail(task.command, "it was cancelled")
                } else if next <= now, jobs != nil {
                    again[task.place.batch, default: [:]][token] = task
                }
                continue
            }
            task.nextSubmission = nil
            if files.isClaimed, !task.hasStarted, !task.life.isWithdrawn {
                task.hasStarted = true
                task.starters = Set(found.map(\.identifier))
                task.command.started(nil)
            }
            if endAgain(&task, found, sharers, &cancelled, at: now) {
                tasks[token] = nil
                continue
            }
            switch task.life.look(answer, files, sharers[task.job] ?? .lone, at: now) {
            case .wait: tasks[token] = task
            case .submit: again[task.place.batch, default: [:]][token] = task
            case .finish(let end, let duration):
                tasks[token] = nil
                folder.readOutput(of: task.place, into: task.command.spool)
                task.command.ended(end, duration ?? .zero)
            }
        }
        tools.cancel(cancelled.sorted())
        for tasks in again.values { submit(tasks) }
    }

    /// Ends a command again that has to end, unless its job is ending. Slurm may not have had the job at the first time.
    ///
    /// - Returns: Whether the command has ended.
    private func endAgain(
        _ task: inout Task, _ jobs: [SlurmSighting], _ sharers: [SlurmJobPlace: SlurmSharers],
        _ cancelled: inout Set<String>, at now: ContinuousClock.Instant
    ) -> Bool {
        guard task.life.isEnding, task.identifier == nil || now - (task.lastCancel ?? now) >= Self.retryPause else {
            return false
        }
        let running = jobs.filter { $0.isLive && $0.state != "COMPLETING" }.map(\.identifier)
        guard !running.isEmpty else { return false }
        task.identifier = running[0]
        return end(&task, running, sharers, &cancelled)
    }
}
