@testable import Operations
import SchedulerCore
import TestSupport
import Testing

/// Changes between the claim of an operation and its start. The test is the worker.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ClaimedTests {
    /// A host without threads: the test claims and starts operations.
    private final class NoThreads: QueueHost {
        func call(_ queue: OperationQueue) {}
        func choose(among count: Int) -> Int { 0 }
        func enqueue(_ job: consuming ExecutorJob) {}
    }

    private let queue = OperationQueue(on: NoThreads())

    enum Kind: CaseIterable { case plain, subclass }

    private func make(_ kind: Kind, _ runs: Journal<Int>) -> Operation {
        switch kind {
        case .plain: BlockOperation { runs.append(0) }
        case .subclass: CountingRuns(runs)
        }
    }

    private func claim() -> Operation { queue.look(for: nil).claim.unsafelyUnwrapped.takeOperation() }

    /// Runs all work that can run now.
    private func work() { for _ in 0..<10 { queue.workOnce() } }

    private func workUntilEmpty() { while !queue.listed().isEmpty { queue.workOnce() } }

    /// Rule A12.
    @Test(arguments: Kind.allCases)
    func `an operation claimed before cancelAllOperations does not start before it is cancelled`(
        kind: Kind
    ) {
        let (queue, runs) = (queue, Journal<Int>())
        let (entered, mayReturn) = (Gate(), Gate())
        let first = CancelledWith {
            entered.open()
            mayReturn.pass()
        }
        let second = make(kind, runs)
        queue.addOperations([first, second], waitUntilFinished: false)
        let (claimedFirst, claimedSecond) = (claim(), claim())
        let canceller = TestThread { queue.cancelAllOperations() }
        entered.pass()
        // A call of `cancel()` is running, and has cancelled the operation.
        queue.run(claimedFirst, in: .current)
        queue.run(claimedSecond, in: .current)
        #expect(first.isFinished && !second.isFinished && runs.entries.isEmpty)
        // A worker that reaches the operation calls its `cancel()`, and then the operation ends.
        workUntilEmpty()
        #expect(second.isCancelled && runs.entries.isEmpty)
        mayReturn.open()
        canceller.join()
    }

    /// Rule A12.
    @Test func `a claimed operation waits for the end of a cancel that another thread has claimed`() {
        let (queue, entered, mayReturn) = (queue, Gate(), Gate())
        let operation = SetsFlagInCancel {
            entered.open()
            mayReturn.pass()
        }
        queue.addOperation(operation)
        let claimed = claim()
        let canceller = TestThread { queue.cancelAllOperations() }
        entered.pass()
        queue.run(claimed, in: .current)
        for _ in 0..<3 { queue.workOnce() }
        #expect(!operation.isFinished && operation.seen.entries.isEmpty)
        mayReturn.open()
        canceller.join()
        workUntilEmpty()
        #expect(operation.seen.entries == [true])
    }

    /// Rule D2.
    @Test(arguments: Kind.allCases)
    func `a dependency that is added after the claim holds the operation back`(kind: Kind) {
        let runs = Journal<Int>()
        let (operation, dependency) = (make(kind, runs), Operation())
        queue.addOperation(operation)
        let claimed = claim()
        operation.addDependency(dependency)
        queue.run(claimed, in: .current)
        queue.workOnce()
        #expect(runs.entries.isEmpty && !operation.isFinished)
        dependency.start()
        workUntilEmpty()
        #expect(runs.entries.count == 1 && operation.isFinished)
    }

    /// Rules Q11 and L8.
    @Test func `an announcement after the claim does not change the order of a serial queue`() {
        queue.maxConcurrentOperationCount = 1
        let runs = Journal<Int>()
        let operations = (0..<2).map { number in CountingRuns(runs, number) }
        queue.addOperations(operations, waitUntilFinished: false)
        let claimed = claim()
        claimed.willChangeValue(for: \.isReady)
        claimed.didChangeValue(for: \.isReady)
        queue.run(claimed, in: .current)
        workUntilEmpty()
        #expect(runs.entries == [0, 1])
    }

    /// Rule L10.
    @Test func `an end that is announced after the claim is the end`() {
        let operation = EndsItself()
        queue.addOperation(operation)
        let claimed = claim()
        operation.announceEnd()
        queue.run(claimed, in: .current)
        #expect(queue.listed().isEmpty && operation.started.entries.isEmpty)
    }

    /// Rule M1.
    @Test func `a claimed operation cannot be started by hand`() {
        let runs = Journal<Int>()
        let operation = CountingRuns(runs)
        queue.addOperation(operation)
        let claimed = claim()
        #expect(throws: OperationError.self) { try operation.tryStart() }
        #expect(runs.entries.isEmpty)
        queue.run(claimed, in: .current)
        #expect(runs.entries == [0])
    }

    enum Stop: CaseIterable { case cancel, cancelAll, holdThenCancel, holdThenCancelAll }

    /// Rules A4 and A12.
    @Test(arguments: Stop.allCases)
    func `a paused operation that is cancelled after its claim ends`(stop: Stop) {
        let operation = PausesOnce()
        queue.addOperation(operation)
        work()
        #expect(operation.word.lifecycle.phase == .enqueued && operation.ends.entries.isEmpty)
        operation.resume()
        let claimed = claim()
        if stop == .holdThenCancel || stop == .holdThenCancelAll {
            operation.pause()
            queue.run(claimed, in: .current)
            #expect(operation.word.lifecycle.phase == .enqueued)
        }
        switch stop {
        case .cancel, .holdThenCancel: operation.cancel()
        case .cancelAll, .holdThenCancelAll: queue.cancelAllOperations()
        }
        if stop == .cancel || stop == .cancelAll { queue.run(claimed, in: .current) }
        work()
        #expect(operation.isFinished && operation.ends.entries == [true] && queue.listed().isEmpty)
    }

    enum Meanwhile: CaseIterable { case depends, dependsAndCancels, announces, cancelsAll, becomesGated }

    /// Rule D9: at any moment of arrival.
    @Test(arguments: Kind.allCases, Meanwhile.allCases)
    func `a change while a claimed operation starts loses no wake-up`(kind: Kind, meanwhile: Meanwhile) throws {
        let queue = queue
        for _ in 0..<Stress.rounds(300, least: 40) {
            let runs = Journal<Int>()
            let operation = make(kind, runs)
            queue.addOperation(operation)
            let claimed = claim()
            let changes = TestThread {
                switch meanwhile {
                case .depends, .dependsAndCancels:
                    let dependency = Operation()
                    operation.addDependency(dependency)
                    if meanwhile == .dependsAndCancels { queue.cancelAllOperations() }
                    dependency.start()
                case .announces:
                    operation.willChangeValue(for: \.isReady)
                    operation.didChangeValue(for: \.isReady)
                case .cancelsAll: queue.cancelAllOperations()
                case .becomesGated: operation.dependencyFailurePolicy = .cancel
                }
            }
            queue.run(claimed, in: .current)
            changes.join()
            work()
            try #require(operation.isFinished && queue.listed().isEmpty)
            let count = runs.entries.count
            #expect(count == 1 || count == 0 && operation.isCancelled)
        }
    }

    /// Rule A9: a permit of a rate limit is not lost.
    @Test func `a claimed operation that does not start returns its permit`() throws {
        queue.setRateLimit(.slidingWindow(1, per: .seconds(1_000_000)))
        let runs = Journal<Int>()
        let operation = CountingRuns(runs)
        queue.addOperation(operation)
        let (claimed, dependency) = (claim(), Operation())
        operation.addDependency(dependency)
        queue.run(claimed, in: .current)
        queue.addOperation(CountingRuns(runs, 1))
        queue.workOnce()
        #expect(runs.entries == [1])
        queue.setRateLimit(nil)
        dependency.start()
        workUntilEmpty()
    }
}

private final class CountingRuns: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let runs: Journal<Int>
    private let number: Int

    init(_ runs: Journal<Int>, _ number: Int = 0) {
        self.runs = runs
        self.number = number
    }

    override func main() { runs.append(number) }
}

/// An operation that releases its slot once, in the middle of its work.
private final class PausesOnce: AsyncOperation, @unchecked Sendable {
    // Sendable: a constant.
    let ends = Journal<Bool>()

    override func run() async {
        pause()
        await waitWhilePaused()
        ends.append(isCancelled)
    }
}

/// An operation that calls a closure when it is cancelled.
private final class CancelledWith: Operation, @unchecked Sendable {
    // Sendable: a constant.
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func cancel() {
        super.cancel()
        body()
    }
}

/// An operation whose `cancel()` only sets a flag of its own.
private final class SetsFlagInCancel: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let flag = Guarded(false)
    let seen = Journal<Bool>()
    private let before: @Sendable () -> Void

    init(_ before: @escaping @Sendable () -> Void) { self.before = before }

    override func cancel() {
        before()
        flag.withLock { $0 = true }
    }

    override func main() { seen.append(flag.withLock { $0 }) }
}

/// An operation with a state of its own.
private final class EndsItself: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let hasEnded = Guarded(false)
    let started = Journal<Bool>()

    override var isFinished: Bool { hasEnded.withLock { $0 } }
    override func start() { started.append(true) }

    func announceEnd() {
        willChangeValue(for: \.isFinished)
        hasEnded.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}
