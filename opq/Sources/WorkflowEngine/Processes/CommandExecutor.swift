/// A place in which the commands of a run are executed: this machine, or a cluster.
protocol CommandExecutor: Sendable {
    /// Starts a command, or hands it over. The functions of the command report the rest, on any thread.
    ///
    /// - Throws: `Shortage` if a resource is short now, or another error if the command cannot start.
    func start(_ command: ExecutedCommand) throws

    /// Asks a command to end by a signal. Without effect for a command that has ended.
    func end(_ token: ProcessWatch.Token, by signal: Int32)

    /// Ends a command at once. Without effect for a command that has ended.
    func kill(_ token: ProcessWatch.Token)
}

/// A command for an executor, and the actions of its owner.
struct ExecutedCommand: Sendable {
    let operation: PlannedOperation
    /// The identifier of the command for later calls.
    let token: ProcessWatch.Token
    /// The number to add to the nice value.
    var niceness: Int32 = 0
    /// The time that the command gets to end after the request to end.
    var grace = ProcessGroup.grace
    /// The files before the command. `nil` for a run without a journal.
    var prepared: RunJournal.Prepared?
    /// The place of the output.
    let spool: OutputSpool
    /// The captured standard output. `nil` if it is not captured.
    var capture: CapturedOutput?
    /// The terminal of this process, for a command that gets it.
    var terminal: TerminalHandover?
    /// A function that is called when the command starts. It receives the first process, if that is on this machine.
    let started: @Sendable (ProcessMark?) -> Void
    /// A function that receives the end of the command and its running time, once. The spool has all output then.
    let ended: @Sendable (CommandEnd, Duration) -> Void
}

extension ProcessWatch: CommandExecutor {
    func start(_ command: ExecutedCommand) throws {
        let (start, earliest) = (ContinuousClock.now, ProcessMark.now)
        try self.start(
            command.operation, as: command.token, niceness: command.niceness, terminal: command.terminal
        ) { process in
            command.started(
                ProcessMark(identifier: process.identifier, earliest: earliest, latest: ProcessMark.now))
            var watched = Watched(process: process, spool: command.spool, capture: command.capture) { end in
                command.ended(end, ContinuousClock.now - start)
            }
            watched.grace = command.grace
            watched.limit = command.operation.settings.timeout
            return watched
        }
    }

    func end(_ token: Token, by signal: Int32) { send(.end(token, signal: signal)) }

    func kill(_ token: Token) { send(.kill(token)) }
}
