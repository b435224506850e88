@testable import Operations
import OperationsTesting
import SchedulerCore
import TestSupport
import Testing

/// Rules P2 and Q11: an operation keeps its place although it cannot be claimed for a moment, or its claim is returned.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct ClaimedOrderTests {
    /// The worker has claimed the second operation when it releases the first. The monitor returns the claim.
    @Test(.tags(.release)) func `a deinit that takes long changes no order in a serial queue`() {
        for _ in 0..<20 {
            let (queue, journal, lastRan) = (OperationQueue(), Journal<Int>(), Gate())
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = true
            for number in 0..<3 {
                queue.addOperation(Numbered(number, journal) { if number == 0 { lastRan.pass() } })
            }
            queue.addOperation { lastRan.open() }
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            #expect(journal.entries == [0, 1, 2])
        }
    }

    /// The override may take long, or wait for another operation.
    @Test(arguments: [true, false])
    func `a serial queue starts other operations while an override of isReady is asked again`(isReady: Bool) {
        let asking = Asking(thenReady: isReady)
        #expect(asking.journal.entries == [1])
        asking.answer()
        #expect(asking.journal.entries == (isReady ? [1, 0] : [1]))
        asking.becomeReady()
        #expect(asking.journal.entries == [1, 0])
    }

    /// The cancelled operation is ready, and is asked again because its dependency ends. The observer runs meanwhile.
    @Test func `an observer of the readiness of a ready operation may wait for a later operation of a serial queue`() {
        let (queue, journal, isObserving, isArmed) = (OperationQueue(), Journal<Int>(), Gate(), Guarded(false))
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let (dependency, first, second) = (BlockOperation {}, Numbered(0, journal), Numbered(1, journal))
        first.addDependency(dependency)
        queue.addOperations([first, second], waitUntilFinished: false)
        first.cancel()
        let token = first.observe(\.isReady) { _, _ in
            guard isArmed.withLock({ $0 }) else { return }
            isObserving.open()
            second.waitUntilFinished()
        }
        isArmed.withLock { $0 = true }
        let ending = TestThread { dependency.start() }
        isObserving.pass()
        queue.isSuspended = false
        ending.join()
        queue.waitUntilAllOperationsAreFinished()
        token.invalidate()
        #expect(journal.entries == [1])
    }

    @Test func `an operation of a parallel queue starts while another one is asked again`() {
        let asking = Asking(width: 2, thenReady: true)
        #expect(asking.journal.entries == [1])
        asking.answer()
        #expect(asking.journal.entries == [1, 0])
    }

    /// The thread that looks gives its processor away until the push.
    @Test func `a serial queue starts no operation before the first one, which another thread is about to push`() {
        for _ in 0..<20 {
            let pinned = Pinned(width: 1)
            let looking = pinned.look()
            pinned.push()
            looking.join()
            pinned.look().join()
            #expect(pinned.journal.entries == [0, 1])
        }
    }

    @Test func `an operation of a parallel queue starts before the push of the first one`() {
        let pinned = Pinned(width: 2)
        pinned.look().join()
        #expect(pinned.journal.entries == [1])
        pinned.push()
        pinned.look().join()
        #expect(pinned.journal.entries == [1, 0])
    }

    /// Both dependents become ready. The push of the first one calls a host, which lets the queue of the second one run.
    @Test func `no operation is pinned while the push to another queue calls code of the user`() {
        let (executor, dependency, journal) = (ManualExecutor(), BlockOperation {}, Journal<Int>())
        let (first, second) = (BlockOperation { journal.append(0) }, BlockOperation { journal.append(1) })
        let host = CallingHost {
            let isPinned = second.word.lifecycle.isPinned
            #expect(!isPinned)
            if !isPinned { executor.runUntilIdle() }
        }
        let (calling, serial) = (OperationQueue(on: host), executor.makeQueue())
        first.addDependency(dependency)
        calling.addOperation(first)
        calling.workOnce()
        serial.maxConcurrentOperationCount = 1
        serial.isSuspended = true
        serial.addOperation(second)
        serial.addOperation { journal.append(2) }
        serial.takeIn()
        // The schedule finds out that it is not ready any more when a thread looks.
        second.addDependency(dependency)
        serial.isSuspended = false
        dependency.start()
        #expect(journal.entries == [2])
        executor.runUntilIdle()
        calling.workOnce()
        #expect(journal.entries == [2, 1, 0])
    }

    /// The first operation must not start before the second one any more.
    @Test func `a serial queue continues after a dependency was added to an operation that is asked again`() {
        let asking = Asking(thenReady: false)
        asking.first.addDependency(asking.second)
        asking.answer()
        #expect(asking.journal.entries == [1])
        asking.becomeReady()
        #expect(asking.journal.entries == [1, 0])
    }

    /// The end of the first operation is announced while the operation is asked, and then revoked.
    @Test func `a serial queue continues after an announced end was revoked while the operation was asked`() {
        let asking = Asking(thenReady: false)
        asking.first.announceEnd(isOver: true)
        asking.first.announceEnd(isOver: false)
        asking.answer()
        #expect(asking.journal.entries == [1])
        asking.becomeReady()
        #expect(asking.journal.entries == [1, 0])
    }

    /// On threads: each announcement keeps the block ready.
    @Test func `announcements of the readiness of blocks change no order in a serial queue`() {
        let (queue, journal) = (OperationQueue(), Journal<Int>())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let operations = (0..<2_000).map { number in BlockOperation { journal.append(number) } }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        let announcing = TestThread {
            for operation in operations {
                for _ in 0..<4 where !operation.isExecuting && !operation.isFinished {
                    operation.willChangeValue(forKey: "isReady")
                    operation.didChangeValue(forKey: "isReady")
                }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        announcing.join()
        #expect(journal.entries == Array(0..<2_000))
    }
}

/// Two ready operations in a queue, of which the first is asked again. The executor has run everything that may start meanwhile.
private struct Asking {
    let journal = Journal<Int>()
    let first: Asked
    let second: Numbered
    private let executor = ManualExecutor()
    private let thread: TestThread

    init(width: Int = 1, thenReady isReady: Bool) {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        (first, second) = (Asked(0, journal), Numbered(1, journal))
        queue.addOperation(first)
        queue.addOperation(second)
        thread = first.ask(thenReady: isReady)
        queue.isSuspended = false
        executor.runUntilIdle()
    }

    func answer() {
        first.mayAnswer.open()
        thread.join()
        executor.runUntilIdle()
    }

    func becomeReady() {
        first.becomeReady()
        executor.runUntilIdle()
    }
}

/// Two ready blocks in a queue, of which the first is pinned. The test is the thread that has pinned it.
private struct Pinned {
    let journal = Journal<Int>()
    private let executor = ManualExecutor()
    private let queue: OperationQueue
    private let first: BlockOperation

    init(width: Int) {
        let journal = journal
        queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = true
        first = BlockOperation { journal.append(0) }
        queue.addOperation(first)
        queue.addOperation { journal.append(1) }
        queue.takeIn()
        #expect(first.word.update { $0.repinned() } != nil)
        queue.isSuspended = false
    }

    /// Another thread runs everything that may start.
    func look() -> TestThread { TestThread { [executor] in executor.runUntilIdle() } }

    func push() { queue.push(first, last: nil) }
}

/// A host that calls a closure when its queue requests a thread.
private final class CallingHost: QueueHost {
    private let atCall: @Sendable () -> Void

    init(atCall: @escaping @Sendable () -> Void) { self.atCall = atCall }

    func call(_ queue: OperationQueue) { atCall() }
    func choose(among count: Int) -> Int { 0 }
    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

private class Numbered: Operation, @unchecked Sendable {
    private let number: Int
    private let journal: Journal<Int>
    private let atRelease: (@Sendable () -> Void)?

    init(_ number: Int, _ journal: Journal<Int>, atRelease: (@Sendable () -> Void)? = nil) {
        (self.number, self.journal, self.atRelease) = (number, journal, atRelease)
    }

    override func main() { journal.append(number) }

    deinit { atRelease?() }
}

/// An operation whose `isReady` waits for a gate once.
private final class Asked: Numbered, @unchecked Sendable {
    let mayAnswer = Gate()
    private let isAsked = Gate()
    private let answer = Guarded<Bool?>(nil)
    private let isOver = Guarded(false)

    override var isReady: Bool {
        guard let answer = answer.withLock({ $0 }) else { return true }
        isAsked.open()
        mayAnswer.pass()
        return answer
    }

    override var isFinished: Bool { isOver.withLock { $0 } || super.isFinished }

    /// Makes a thread ask, and returns when that thread is inside `isReady`.
    func ask(thenReady isReady: Bool) -> TestThread {
        answer.withLock { $0 = isReady }
        let thread = TestThread { self.announce() }
        isAsked.pass()
        return thread
    }

    func becomeReady() {
        answer.withLock { $0 = true }
        announce()
    }

    func announceEnd(isOver: Bool) {
        willChangeValue(forKey: "isFinished")
        self.isOver.withLock { $0 = isOver }
        didChangeValue(forKey: "isFinished")
    }

    private func announce() {
        willChangeValue(forKey: "isReady")
        didChangeValue(forKey: "isReady")
    }
}
