/// The commands of one job that have not ended. The job starts them in the order of their indices.
struct SlurmSharers: Equatable, Sendable {
    /// The lowest index of a command that has not started. `Int.max` if all have.
    private(set) var head = Int.max
    /// Whether all commands were asked to end.
    private(set) var allEnd = true

    /// A command that shares its job with no other.
    static let lone = {
        var sharers = SlurmSharers()
        sharers.add(index: 0, hasStarted: false, isEnding: true)
        return sharers
    }()

    /// Adds a command.
    mutating func add(index: Int, hasStarted: Bool, isEnding: Bool) {
        if !hasStarted { head = min(head, index) }
        allEnd = allEnd && isEnding
    }

    /// Returns the sighting that concerns a command. A job may be submitted again for the commands that it has not started.
    ///
    /// - Parameters:
    ///   - jobs: All jobs that have the place of the job of the command.
    ///   - starters: The identifiers of those that Slurm knew when the command had started. Empty before.
    static func sighting(in jobs: [SlurmSighting], starters: Set<String>) -> SlurmSighting? {
        let own = starters.isEmpty ? jobs : jobs.filter { starters.contains($0.identifier) }
        return own.first(where: \.isLive) ?? own.last
    }
}
