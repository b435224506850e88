import Glibc

/// The jobs of a run whose opq was killed.
enum SlurmLeft {
    /// The time in which cancelled jobs have to end. Slurm kills their processes 30 seconds after the signal.
    private static let patience = 90
    private static let pause = Duration.seconds(1)

    /// Divides the tasks of earlier runs into those that a run may adopt, by the names of their operations, and the others.
    ///
    /// - Parameters:
    ///   - names: The operations of the run. Empty for a run that adopts none.
    ///   - hasEnded: Whether an operation has an end in the journal, in a run with this number or a later one.
    static func divide(
        _ tasks: [SlurmFolder.Left], names: Set<ByteKey>, hasEnded: (ByteKey, _ run: Int) -> Bool
    ) -> (adoptable: [ByteKey: SlurmFolder.Left], others: [SlurmFolder.Left]) {
        var adoptable: [ByteKey: SlurmFolder.Left] = [:]
        var others: [SlurmFolder.Left] = []
        for task in tasks {
            let name = ByteKey(task.name)
            if names.contains(name), !task.isWithdrawn, !hasEnded(name, SlurmFolder.run(of: task.place.batch)) {
                // The last one is the latest attempt.
                if let earlier = adoptable.updateValue(task, forKey: name) { others.append(earlier) }
            } else {
                others.append(task)
            }
        }
        return (adoptable, others)
    }

    /// Cancels the live jobs of tasks, and waits until their processes have ended.
    ///
    /// - Parameter kept: The jobs that have further commands. Of these, only the tasks end.
    /// - Returns: Whether none is left.
    @discardableResult
    static func end(
        _ tasks: [SlurmFolder.Left], keeping kept: Set<SlurmJobPlace> = [], in folder: SlurmFolder, _ tools: SlurmTools,
        _ note: (String) -> Void
    ) -> Bool {
        // No task starts any more, also on a node that Slurm does not reach.
        let claimed = tasks.map(\.place).filter { !folder.withdraw($0) }
        var stopped = claimed.filter { kept.contains($0.job) }
        let places = Set(tasks.map(\.place.job)).subtracting(kept)
        var hasNoted = false
        for attempt in 0..<patience {
            guard let jobs = tools.jobs() else { return false }
            stopped.removeAll { place in
                folder.files(of: place).result != nil || !(jobs[place.job] ?? []).contains(where: \.isLive)
            }
            if attempt == 0 { for place in stopped { folder.stop(place) } }
            let live = places.flatMap { jobs[$0] ?? [] }.filter(\.isLive)
            if live.isEmpty {
                if stopped.isEmpty { return true }
                sleep(UInt32(pause / .seconds(1)))
                continue
            }
            if !hasNoted {
                let count = live.count == 1 ? "1 job" : "\(live.count) jobs"
                note("ends \(count) on Slurm, which an opq that was killed had left behind")
            }
            hasNoted = true
            let running = live.filter { $0.state != "COMPLETING" }.map(\.identifier)
            if !running.isEmpty { tools.cancel(running) }
            sleep(UInt32(pause / .seconds(1)))
        }
        return false
    }

    /// Ends the jobs that an earlier run has left on Slurm, and forgets them, before a run on this machine.
    ///
    /// - Throws: `RunFailure` if the jobs cannot be ended.
    static func clear(_ store: RunStore, _ watch: ProcessWatch, _ note: (String) -> Void) throws(RunFailure) {
        guard SlurmFolder.exists(in: store) else { return }
        let folder: SlurmFolder
        do throws(SlurmFolder.Failure) { folder = try SlurmFolder(in: store) } catch {
            throw RunFailure(description: error.text)
        }
        let left = folder.left
        // Without an answer of Slurm, a job may still run and write the files of this run.
        guard left.isEmpty || end(left, in: folder, SlurmTools(watch), note) else {
            throw RunFailure(
                description: "jobs of an earlier run may still run on Slurm, and cannot be ended; "
                    + "end them, and remove \(folder.path)")
        }
        for batch in Set(left.map(\.place.batch)) { folder.remove(batch) }
        folder.removeIfEmpty()
    }
}
