import WorkflowEngine

#if Dashboard
import Dispatch
import OperationsDashboard
import Synchronization

/// The page of a run. `RunBoard` and `RecentOutputs` decide about its contents.
final class RunPage: DashboardReporter {
    private struct State {
        var board: RunBoard
        var outputs = RecentOutputs()
        /// The outputs of the running commands.
        var spools: [String: OutputSpool] = [:]
        var report = DashboardReport()
        /// The version of the board of which the report has the operations, and the time of its estimates.
        var version = -1
        var estimated: ContinuousClock.Instant?
        var phase = Phase.runs
        var server: PageServer?
    }

    private enum Phase { case runs, stays, left }

    private let port: Int
    private let title: String
    private let secrets: Secrets
    private let state: Mutex<State>
    private let leaves = DispatchSemaphore(value: 0)
    private let stays = Atomic(false)
    /// Two views of one frame need no two estimates.
    private static let pause = Duration.milliseconds(400)

    init(_ port: Int, of plan: WorkflowPlan, jobs: Int?, _ store: RunStore?, _ secrets: Secrets) {
        (self.port, self.secrets) = (port, secrets)
        title = secrets.masked(plan.name ?? "workflow")
        state = Mutex(State(board: RunBoard(of: plan, jobs: jobs, durations: store?.durations(of: plan) ?? [])))
    }

    /// Starts the server.
    ///
    /// - Parameter stays: Whether the page stays after the run until a signal arrives.
    func open(stays: Bool) throws(PageServer.Failure) {
        let server = try PageServer(port) { $0.add(self, name: title) }
        state.withLock { $0.server = server }
        self.stays.store(stays, ordering: .sequentiallyConsistent)
    }

    /// Takes an event of the run.
    func note(_ event: RunEvent) {
        let now = ContinuousClock.now
        if case .output(let operation, let spool) = event {
            return state.withLock { $0.spools[operation.name] = spool }
        }
        // A spool of a long output is a file, which is read without the lock.
        var last: (name: String, bytes: [UInt8])?
        if case .ended(let conclusion, let spool?) = event {
            last = (conclusion.name, (try? spool.tail(byteCount: RecentOutputs.byteCount)) ?? [])
        }
        state.withLock { state in
            state.board.note(event, at: now)
            guard let last else { return }
            state.spools[last.name] = nil
            state.outputs.add(last.bytes, of: last.name)
        }
    }

    /// Ends the page of a run that did not begin.
    func close() { state.withLock { $0.server.take() }?.stop() }

    /// Shows the result, and ends the page, or waits for a signal before.
    func close(after result: RunResult, isInterrupted: Bool, _ note: (String) -> Void) {
        let now = ContinuousClock.now
        let isStaying = state.withLock { state in
            state.board.end(with: result, at: now)
            state.report.ended = now
            if stays.load(ordering: .sequentiallyConsistent), !isInterrupted, state.phase == .runs {
                state.phase = .stays
            }
            return state.phase == .stays
        }
        if isStaying {
            note("the page stays until Ctrl-C")
            leaves.wait()
        }
        close()
    }

    /// Ends the page, if the run has ended. Returns whether it has. Called by the thread of the signals.
    func leave() -> Bool {
        let hasEnded = state.withLock { state in
            defer { state.phase = .left }
            return state.phase == .stays
        }
        if hasEnded { leaves.signal() }
        return hasEnded
    }

    func report() -> DashboardReport {
        let now = ContinuousClock.now
        return state.withLock { state in
            if state.version != state.board.version {
                state.version = state.board.version
                state.report.operations = state.board.rows.map { .init($0, secrets) }
            }
            guard state.report.ended == nil else {
                (state.report.timeLeft, state.report.notice) = (nil, nil)
                return state.report
            }
            if state.estimated.map({ now - $0 > Self.pause }) ?? true {
                state.estimated = now
                state.report.timeLeft = state.board.timeLeft(at: now)
                state.report.notice = state.board.holdUp(at: now).map(secrets.masked)
            }
            return state.report
        }
    }

    func reason(for index: Int) -> String { secrets.masked(state.withLock { $0.board.reason(for: index) }) }

    func detail(of index: Int) -> DashboardReport.Detail {
        var detail = DashboardReport.Detail()
        let (operation, usual, kept, spool) = state.withLock { state in
            let operation = state.board.rows[index].operation
            return (
                operation, state.board.usualDuration(of: index), state.outputs.text(of: operation.name),
                state.spools[operation.name]
            )
        }
        detail.explanation = reason(for: index)
        detail.facts = [
            ("command", secrets.masked(operation.command)), ("directory", secrets.masked(operation.directory)),
        ]
        if let usual { detail.facts.append(("usually takes", usual.seconds)) }
        let running = spool.flatMap { try? $0.tail(byteCount: RecentOutputs.byteCount) } ?? []
        detail.output = running.isEmpty ? kept : String(decoding: running, as: UTF8.self)
        return detail
    }
}

extension DashboardReport.Operation {
    fileprivate init(_ row: RunBoard.Row, _ secrets: Secrets) {
        self.init(name: secrets.masked(row.operation.name))
        (queue, family) = (row.operation.queue, secrets.masked(row.operation.family))
        (state, began, ended, dependencies) = (.init(row.state), row.began, row.ended, row.dependencies)
        note = secrets.masked(row.note)
    }
}

extension DashboardReport.State {
    init(_ state: RunBoard.State) {
        switch state {
        case .waiting: self = .waiting
        case .running: self = .running
        case .done: self = .done
        case .failed: self = .failed
        case .skipped: self = .skipped
        case .cancelled: self = .cancelled
        }
    }
}
#else

/// The page of a run, which this build does not have: `PageOption` refuses the option.
final class RunPage: Sendable {
    init(_ port: Int, of plan: WorkflowPlan, jobs: Int?, _ store: RunStore?, _ secrets: Secrets) {}
    func open(stays: Bool) throws {}
    func note(_ event: RunEvent) {}
    func close() {}
    func close(after result: RunResult, isInterrupted: Bool, _ note: (String) -> Void) {}
    func leave() -> Bool { false }
}
#endif
