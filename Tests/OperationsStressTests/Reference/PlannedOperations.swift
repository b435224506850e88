import Operations
import OperationsTesting
import TestSupport

/// A run of a random program, which gives the operations their work.
protocol ProgramRun: AnyObject, Sendable {
    /// The work of an operation begins on this thread.
    func began(_ number: Int)
    /// The work has returned, or the operation in the classic style was asked to end.
    func returned(_ number: Int)
    func conditionBegan(_ number: Int)
    func conditionEnded(_ number: Int, holds: Bool)
    func completed(_ number: Int)
    /// An operation in the classic style begins to execute.
    func executes(_ operation: ClassicOperation, _ number: Int)
    func childRan(of number: Int)
    /// The work of an operation waits for another operation.
    func awaits(_ other: Int, in number: Int) async
    /// The work reaches a point at which it pauses if the operation is paused, and continues after that.
    func reachesPause(_ number: Int)
    /// An attempt has failed, and the next one follows after the delay of the plan.
    func attemptFailed(_ number: Int)
    /// The work continues after a pause, or another attempt begins.
    func continues(_ number: Int)
}

struct Planned: Error {}

extension RandomProgram.Plan {
    /// Creates the operation of the plan, without the parts that concern queues.
    func makeOperation(
        _ number: Int, for run: some ProgramRun, pool: ResourcePool, names: [String],
        clock: some Clock<Duration>
    ) throws -> Operation {
        let operation = makeKind(number, for: run, clock: clock)
        operation.name = "\(number) (\(kind))"
        operation.queuePriority = priority
        operation.qualityOfService = quality
        operation.dependencyFailurePolicy = failurePolicy
        operation.completionBlock = { run.completed(number) }
        if units > 0 { operation.addRequirement(.units(units, of: "units", in: pool)) }
        if let exclusiveName { operation.addRequirement(.exclusive(names[exclusiveName])) }
        if let timeout { operation.setTimeout(.milliseconds(timeout), clock: clock) }
        addCondition(to: operation, number, for: run, clock: clock)
        return operation
    }

    private func addCondition(
        to operation: Operation, _ number: Int, for run: some ProgramRun, clock: some Clock<Duration>
    ) {
        switch condition {
        case .none, .notBefore: return
        case .holds(let steps), .fails(let steps):
            let holds = condition == .holds(steps: steps)
            operation.addCondition(
                OperationCondition("planned") {
                    run.conditionBegan(number)
                    for step in 0..<steps {
                        if step == 2 { try? await clock.sleep(for: .milliseconds(5)) } else { await Task.yield() }
                    }
                    run.conditionEnded(number, holds: holds)
                    return holds
                })
        }
    }

    private func makeKind(_ number: Int, for run: some ProgramRun, clock: some Clock<Duration>) -> Operation {
        let (fails, sleeps, awaited) = (fails, sleeps, awaited)
        switch kind {
        case .block:
            let operation = BlockOperation()
            operation.addExecutionBlock { [unowned operation] in
                run.began(number)
                if fails { operation.reportFailure(Planned()) }
                run.returned(number)
            }
            return operation
        case .main: return MainOperation(number, run, fails: fails)
        case .classic: return ClassicOperation(number, run)
        case .task:
            return TaskOperation {
                run.began(number)
                defer { run.returned(number) }
                if let awaited { await run.awaits(awaited, in: number) }
                for sleep in sleeps {
                    if sleep < 10 { await Task.yield() } else { try await clock.sleep(for: .milliseconds(sleep)) }
                }
                if fails { throw Planned() }
            }
        case .pausing:
            return PausingOperation { operation in
                run.began(number)
                defer { run.returned(number) }
                for sleep in sleeps {
                    if sleep < 10 { await Task.yield() } else { try await clock.sleep(for: .milliseconds(sleep)) }
                    run.reachesPause(number)
                    await operation.waitWhilePaused()
                    run.continues(number)
                }
                if fails { throw Planned() }
            }
        case .group: return PlannedGroup(number, run, children: sleeps.count, fails: fails, clock: clock)
        case .retry:
            let delay = Duration.milliseconds(delay)
            let policy = RetryPolicy(retries: sleeps.count, backoff: .constant(delay), jitter: .none)
            return RetryOperation(policy, clock: clock, random: SeededGenerator(seed: 1)) { attempt in
                if attempt == 1 { run.began(number) } else { run.continues(number) }
                let isLast = attempt == sleeps.count + 1
                let operation = BlockOperation()
                operation.addExecutionBlock { [unowned operation] in
                    if fails || !isLast { operation.reportFailure(Planned()) }
                    if isLast { run.returned(number) } else { run.attemptFailed(number) }
                }
                return operation
            }
        }
    }
}

final class MainOperation: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let number: Int
    private let run: any ProgramRun
    private let fails: Bool

    init(_ number: Int, _ run: any ProgramRun, fails: Bool) {
        (self.number, self.run, self.fails) = (number, run, fails)
    }

    override func main() {
        run.began(number)
        if fails { reportFailure(Planned()) }
        run.returned(number)
    }
}

final class PausingOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: a constant.
    private let work: @Sendable (PausingOperation) async throws -> Void

    init(_ work: @escaping @Sendable (PausingOperation) async throws -> Void) { self.work = work }

    override func run() async throws { try await work(self) }
}

/// An operation in the classic style, with its own state. The run ends it.
final class ClassicOperation: Operation, @unchecked Sendable {
    // Sendable: constants, and a value behind a lock.
    private enum State { case waiting, executing, finished }

    private let number: Int
    private let run: any ProgramRun
    private let state = Guarded(State.waiting)

    init(_ number: Int, _ run: any ProgramRun) { (self.number, self.run) = (number, run) }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        if isCancelled { return change(to: .finished, ["isFinished"]) }
        change(to: .executing, ["isExecuting"])
        run.began(number)
        run.executes(self, number)
    }

    func end() {
        guard isExecuting else { return }
        run.returned(number)
        change(to: .finished, ["isExecuting", "isFinished"])
    }

    private func change(to new: State, _ keys: [String]) {
        for key in keys { willChangeValue(forKey: key) }
        state.withLock { $0 = new }
        for key in keys { didChangeValue(forKey: key) }
    }
}

final class PlannedGroup: GroupOperation, @unchecked Sendable {
    // Sendable: constants.
    private let number: Int
    private let run: any ProgramRun

    init(_ number: Int, _ run: any ProgramRun, children: Int, fails: Bool, clock: some Clock<Duration>) {
        (self.number, self.run) = (number, run)
        super.init(policy: .waitForAll)
        for child in 0..<children {
            addChildTask {
                run.childRan(of: number)
                try await clock.sleep(for: .milliseconds(3 * child))
                if fails { throw Planned() }
            }
        }
    }

    override func run() async throws {
        run.began(number)
        defer { run.returned(number) }
        try await super.run()
    }
}
