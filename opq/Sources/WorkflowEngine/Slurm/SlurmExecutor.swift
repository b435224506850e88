import Dispatch
import Synchronization

/// An executor that hands commands to Slurm, and a thread that asks Slurm for all of them at once.
///
/// opq decides all dependencies. Slurm forgets a job some minutes after its end, and then counts each dependency on it as met, also
/// one on a failed job.
final class SlurmExecutor: CommandExecutor {
    private enum Message {
        case start(ExecutedCommand)
        case end(ProcessWatch.Token)
        case kill(ProcessWatch.Token)
        case stop
    }

    private struct Task {
        let command: ExecutedCommand
        var place: SlurmPlace
        var batch: SlurmBatch
        /// The identifier from `sbatch`. `nil` until the job is submitted, and for an adopted job.
        var identifier: String?
        var life = SlurmTask()
        var hasStarted = false
        var nextSubmission: ContinuousClock.Instant?
        var lastCancel: ContinuousClock.Instant?
    }

    /// The pause between two questions for the states of all jobs.
    private static let pause = Duration.seconds(1)
    /// The time in which commands that start one after another come into one array.
    private static let gathering = Duration.milliseconds(30)
    /// The pause before a job is submitted again after a failure that passes, and before it is cancelled again.
    private static let retryPause = Duration.seconds(5)

    private let folder: SlurmFolder
    private let tools: SlurmTools
    private let watch: ProcessWatch
    private let limits: SlurmTools.Limits
    private let runNumber: Int
    private let totals: Set<String>
    private let note: @Sendable (String) -> Void
    private let inbox = Mutex<[Message]>([])
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - left: The jobs of a killed opq that may be adopted, by the names of their operations.
    ///   - totals: The resources that opq limits itself.
    ///   - note: Receives a line for the user.
    /// - Throws: `RunFailure` if the system can start no thread.
    init(
        _ folder: SlurmFolder, _ tools: SlurmTools, _ watch: ProcessWatch, limits: SlurmTools.Limits, run: Int,
        left: [ByteKey: SlurmFolder.Left], totals: Set<String>, note: @escaping @Sendable (String) -> Void
    ) throws(RunFailure) {
        (self.folder, self.tools, self.watch, self.limits) = (folder, tools, watch, limits)
        (runNumber, self.totals, self.note) = (run, totals, note)
        guard startThread(named: "opq-slurm", { self.loop(left) }) else { throw .noThread }
    }

    func start(_ command: ExecutedCommand) throws { send(.start(command)) }

    func end(_ token: ProcessWatch.Token, by signal: Int32) {
        // The watch has the pause before a retry.
        watch.end(token, by: signal)
        send(.end(token))
    }

    func kill(_ token: ProcessWatch.Token) {
        watch.kill(token)
        send(.kill(token))
    }

    /// Ends the thread. No command may be running.
    func stop() {
        send(.stop)
        ended.wait()
    }

    private func send(_ message: Message) {
        inbox.withLock { $0.append(message) }
        wake.signal()
    }

    private func takeMessages() -> [Message] {
        inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
    }

    // MARK: - The thread

    private func loop(_ left: [ByteKey: SlurmFolder.Left]) {
        var state = State(left: left)
        while !state.isStopped {
            if state.tasks.isEmpty { wake.wait() } else { _ = wake.wait(timeout: .now() + state.timeout) }
            act(on: takeMessages(), &state)
            // Members of a family become ready one after another.
            while !state.new.isEmpty, wake.wait(timeout: .now() + Self.gathering.dispatch) == .success {
                act(on: takeMessages(), &state)
            }
            submitNew(&state)
            let now = ContinuousClock.now
            if now >= state.nextLook {
                if !state.tasks.isEmpty { look(&state) }
                state.nextLook = ContinuousClock.now + Self.pause
            }
        }
        ended.signal()
    }

    /// The state of the thread.
    private struct State {
        var left: [ByteKey: SlurmFolder.Left]
        var tasks: [ProcessWatch.Token: Task] = [:]
        var new: [ExecutedCommand] = []
        var nextLook = ContinuousClock.now
        var isStopped = false
        /// Whether the last question to Slurm had no answer.
        var isSilent = false

        var timeout: DispatchTimeInterval { max(nextLook - ContinuousClock.now, .zero).dispatch }
    }

    private func act(on messages: [Message], _ state: inout State) {
        var cancelled: [String] = []
        for message in messages {
            switch message {
            case .start(let command):
                if !adopt(command, &state) { state.new.append(command) }
            case .end(let token), .kill(let token):
                if let index = state.new.firstIndex(where: { $0.token == token }) {
                    let command = state.new.remove(at: index)
                    command.ended(CommandEnd(end: .unknown("it was cancelled"), hasTimedOut: false), .zero)
                    continue
                }
                guard state.tasks[token] != nil else { continue }
                state.tasks[token]?.life.end()
                state.tasks[token]?.lastCancel = .now
                let identifiers = [state.tasks[token]?.identifier].compactMap(\.self)
                if case .kill = message { tools.cancel(identifiers, isKill: true) } else { cancelled += identifiers }
                state.nextLook = .now
            case .stop: state.isStopped = true
            }
        }
        if !cancelled.isEmpty { tools.cancel(cancelled) }
    }

    // MARK: - Submission

    /// Takes the job of a killed opq for a command, if nothing has changed since. Otherwise ends that job first.
    private func adopt(_ command: ExecutedCommand, _ state: inout State) -> Bool {
        guard let left = state.left.removeValue(forKey: ByteKey(command.operation.name)) else { return false }
        guard left.state == command.prepared?.stateText ?? "" else {
            SlurmLeft.end([left], tools, note)
            return false
        }
        note("\(command.operation.name) continues in the job that an earlier opq has submitted")
        let batch = SlurmBatch(
            name: left.name, options: SlurmOptions(command.operation, totals: totals), tasks: [0])
        state.tasks[command.token] = Task(command: command, place: left.place, batch: batch)
        state.nextLook = .now
        return true
    }

    private func submitNew(_ state: inout State) {
        let new = state.new
        guard !new.isEmpty else { return }
        state.new = []
        let described = new.map { command in
            (command.operation.name, command.operation.family, SlurmOptions(command.operation, totals: totals))
        }
        for batch in SlurmBatch.divide(described, largest: limits.arraySize) {
            do throws(SlurmFolder.Failure) {
                let name = try folder.makeBatch(run: runNumber)
                var tasks: [ProcessWatch.Token: Task] = [:]
                for (index, position) in batch.tasks.enumerated() {
                    let place = SlurmPlace(batch: name, index: index)
                    do throws(SlurmFolder.Failure) {
                        try folder.write(new[position], at: place)
                        tasks[new[position].token] = Task(command: new[position], place: place, batch: batch)
                    } catch {
                        fail(new[position], error.text)
                    }
                }
                submit(tasks, &state)
            } catch {
                for position in batch.tasks { fail(new[position], error.text) }
            }
        }
    }

    /// Submits tasks of one batch.
    private func submit(_ tasks: [ProcessWatch.Token: Task], _ state: inout State) {
        guard let first = tasks.values.first else { return }
        let arguments = first.batch.arguments(
            batch: first.place.batch, in: folder.path, indices: tasks.values.map(\.place.index), script: folder.script)
        let output = tools.run(arguments)
        let identifier = output.success.flatMap { SlurmTools.identifier(in: $0) }
        if identifier == nil, !SlurmTools.isPassing(output) {
            for (token, task) in tasks {
                state.tasks[token] = nil
                fail(task.command, "sbatch: \(output.reason)")
            }
            return
        }
        if identifier == nil { note("sbatch: \(output.reason); trying again") }
        for (token, task) in tasks {
            var task = task
            task.identifier = identifier.map { task.batch.tasks.count > 1 ? "\($0)_\(task.place.index)" : $0 }
            task.nextSubmission = identifier == nil ? .now + Self.retryPause : nil
            state.tasks[token] = task
        }
        state.nextLook = min(state.nextLook, .now + Self.pause / 2)
    }

    private func fail(_ command: ExecutedCommand, _ text: String) {
        command.ended(CommandEnd(end: .unknown(text), hasTimedOut: false), .zero)
    }

    // MARK: - Looking

    /// Asks Slurm for all jobs, and acts on each task.
    private func look(_ state: inout State) {
        let jobs = tools.jobs()
        if jobs == nil, !state.isSilent { note("Slurm does not answer; its jobs continue") }
        state.isSilent = jobs == nil
        let now = ContinuousClock.now
        var again: [String: [ProcessWatch.Token: Task]] = [:]
        for (token, task) in state.tasks {
            var task = task
            let found = jobs?[task.place] ?? []
            let job = found.first { $0.isLive } ?? found.last
            let answer: SlurmTask.Answer = jobs == nil ? .none : job.map { .job($0) } ?? .missing
            let files = job?.isPending == true ? SlurmTask.Files() : folder.files(of: task.place)
            if let next = task.nextSubmission, !files.isClaimed, found.isEmpty {
                // The job was not accepted, as far as Slurm answers.
                if task.life.isEnding, jobs != nil {
                    state.tasks[token] = nil
                    fail(task.command, "it was cancelled")
                } else if next <= now, jobs != nil {
                    again[task.place.batch, default: [:]][token] = task
                }
                continue
            }
            task.nextSubmission = nil
            if files.isClaimed, !task.hasStarted {
                task.hasStarted = true
                task.command.started(nil)
            }
            cancelAgain(&task, found, at: now)
            switch task.life.look(answer, files, at: now) {
            case .wait: state.tasks[token] = task
            case .submit: again[task.place.batch, default: [:]][token] = task
            case .finish(let end, let duration):
                state.tasks[token] = nil
                folder.readOutput(of: task.place, into: task.command.spool)
                task.command.ended(end, duration ?? .zero)
            }
        }
        for tasks in again.values { submit(tasks, &state) }
    }

    /// Cancels the jobs of a command that has to end, unless they are ending. Slurm may not have had the job at the first time.
    private func cancelAgain(_ task: inout Task, _ jobs: [SlurmSighting], at now: ContinuousClock.Instant) {
        guard task.life.isEnding, task.identifier == nil || now - (task.lastCancel ?? now) >= Self.retryPause else {
            return
        }
        let running = jobs.filter { $0.isLive && $0.state != "COMPLETING" }.map(\.identifier)
        guard !running.isEmpty else { return }
        task.lastCancel = now
        task.identifier = running[0]
        tools.cancel(running)
    }
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .milliseconds(Int((self / .milliseconds(1)).rounded(.up))) }
}
