import SchedulerCore

/// The blocks of one operation. The thread that starts the operation runs them, with helper threads of the pool.
///
/// Each thread takes one block at a time. While blocks are left, it requests the next helper before it runs its own
/// block. So a few small blocks cost one or two wake-ups. Blocks that wait for each other get one thread each, up to
/// `guaranteedConcurrency`.
final class ConcurrentBlocks: WorkSource {
    private let state: Locked<State>
    /// The operation and its surroundings on the thread that starts it, outermost first. They exist while a block runs, because
    /// the starter waits for all blocks. A helper that comes later uses none of them, and keeps none alive.
    private let frames: [ThreadContext.Frame]
    private let starter = Parker()
    private let level: ServiceLevel
    let threadName: String?

    fileprivate struct State {
        var waiting: [@Sendable () -> Void]
        var unfinished: Int
        /// Threads that run a block or were requested.
        var threads = 1
        var starterSleeps = false
    }

    init(_ blocks: [@Sendable () -> Void], of operation: BlockOperation) {
        state = Locked(State(waiting: blocks.reversed(), unfinished: blocks.count))
        let context = ThreadContext.current
        var frames = (context.workerFrame.map { [$0] } ?? []) + context.frames
        // `main()` may also be called outside `start()`.
        if !context.isRunning(operation) { frames.append(.init(operation: .passUnretained(operation), queue: nil)) }
        self.frames = frames
        threadName = context.innermostQueue?.takeUnretainedValue().threadName ?? "block operation"
        level = context.withWorker { $0.level } ?? .normal
    }

    var urgency: Urgency { .eager }

    func run() {
        if let host = ThreadContext.current.innermostQueue?.takeUnretainedValue().host { return runAlone(by: host) }
        changeBlocks(by: state.withLock { $0.unfinished } - 1)
        runBlocks()
        let mustSleep = state.withLock { state in
            state.starterSleeps = state.unfinished > 0
            return state.starterSleeps
        }
        if mustSleep { Worker.block(on: starter) }
        // This thread continues with the code around the blocks.
        changeBlocks(by: 1)
    }

    /// Changes the number of threads that run code of the operation and of those around it. They exist while a block runs.
    private func changeBlocks(by number: Int) {
        for frame in frames { frame.operation._withUnsafeGuaranteedRef { $0.changeBlocks(by: number) } }
    }

    /// Runs the blocks one after the other on this thread, in the order that the host chooses. The host has no other
    /// threads.
    private func runAlone(by host: any QueueHost) {
        while let block = takeAlone(by: host) {
            HeldLocks.assertNone()
            block()
        }
    }

    private func takeAlone(by host: any QueueHost) -> (@Sendable () -> Void)? {
        let count = state.withLock { $0.waiting.count }
        guard count > 0 else { return nil }
        // The array is in reverse order: its last block is the first one.
        let next = count - 1 - host.choose(among: count)
        return state.withLock { $0.waiting.remove(at: next) }
    }

    func work(on worker: Worker) {
        let context = ThreadContext.current
        context.frames += frames
        runBlocks(as: worker)
        context.frames.removeLast(frames.count)
    }

    /// - Parameter helper: The worker, if another thread has started the operation.
    private func runBlocks(as helper: Worker? = nil) {
        while runBlock(as: helper) {
            changeBlocks(by: -1)
            if state.withLock({ $0.finishedOne() }) { starter.unpark() }
        }
    }

    /// Runs one block. The block is released when this function returns, before any waiter is notified that it has run
    /// (rule W5).
    private func runBlock(as helper: Worker?) -> Bool {
        guard let (block, callsHelper) = take() else { return false }
        if callsHelper { WorkerPool[level].request(self) }
        HeldLocks.assertNone()
        if let helper, let operation = frames.first?.operation { helper.beginRunning(operation) }
        block()
        helper?.endRunning()
        return true
    }

    private func take() -> (block: @Sendable () -> Void, callsHelper: Bool)? {
        state.withLock { state in
            guard let block = state.waiting.popLast() else {
                state.threads -= 1
                return nil
            }
            let callsHelper = !state.waiting.isEmpty && state.threads < BlockOperation.guaranteedConcurrency
            if callsHelper { state.threads += 1 }
            return (block, callsHelper)
        }
    }
}

extension ConcurrentBlocks.State {
    /// Counts a finished block. True: it was the last one, and the starter sleeps and has to be woken.
    fileprivate mutating func finishedOne() -> Bool {
        unfinished -= 1
        return unfinished == 0 && starterSleeps
    }
}
