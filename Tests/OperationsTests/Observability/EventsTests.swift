import Synchronization
import TestSupport
import Testing

@testable import Operations

@Suite(.timeLimit(.minutes(5))) struct EventsTests {
    @Test func `the events of a queue end with it`() async {
        var queue: OperationQueue? = OperationQueue()
        let gone = Weak(queue)
        let events = queue!.events
        queue!.addOperation {}
        await queue!.waitUntilAllOperationsAreFinished()
        queue = nil
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == 4)
        await gone.goes()
    }

    @Test func `released streams leave no watcher, and a slow reader may limit the buffer`() async {
        let queue = OperationQueue()
        for _ in 0..<20_000 { _ = queue.events }
        #expect(queue.watcherCount == 0)
        let newest = queue.events(bufferingPolicy: .bufferingNewest(1))
        for _ in 0..<10 { await queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
        var iterator = newest.makeAsyncIterator()
        if case .finished = await iterator.next()?.kind {} else { Issue.record("not the last") }
    }

    @Test func `a queue whose last watcher was removed has the path of a queue that never had one`() async {
        let queue = OperationQueue()
        // A macro cannot take the reference, which cannot be copied.
        func hasHooks() -> Bool { queue.hooks.isSet }
        let first = queue.addEventHandler { _ in }
        let second = queue.addEventHandler { _ in }
        #expect(hasHooks())
        queue.removeWatcher(first)
        #expect(hasHooks())
        queue.removeWatcher(second)
        #expect(!hasHooks())
        let count = Atomic(0)
        let third = queue.addEventHandler(for: .finished) { _ in count.wrappingAdd(1, ordering: .relaxed) }
        queue.addOperation {}
        await queue.waitUntilAllOperationsAreFinished()
        #expect(count.load(ordering: .relaxed) == 1)
        queue.unhandledFailureHandler = { _ in }
        queue.removeWatcher(third)
        #expect(hasHooks(), "the handler of failures is asked without a watcher")
    }

    @Test func `the events of each operation come in order, with its times and its outcome`() async {
        let queue = OperationQueue()
        queue.name = "followed"
        let events = queue.events
        let first = TaskOperation { await Task.yield() }
        let second = TaskOperation { throw Failure.expected }
        let third = BlockOperation {}
        (first.name, second.name, third.name) = ("first", "second", "third")
        second.addDependency(first)
        third.addDependency(second)
        queue.addOperation(first)
        queue.addOperation(second)
        queue.addOperation(third)
        await second.waitUntilFinished()
        var notified: [String: [String]] = [:]
        var finished = 0
        for await event in events {
            notified[event.operation, default: []].append(event.word)
            #expect(event.queue == "followed" && event.operationID > 0)
            if case .finished(_, let waited, let ran) = event.kind {
                #expect(waited >= .zero && ran! >= .zero)
                finished += 1
                if finished == 3 { break }
            }
        }
        #expect(notified["TaskOperation 'first'"] == ["added", "ready", "started", "finished succeeded"])
        #expect(notified["TaskOperation 'second'"] == ["added", "ready", "started", "finished failed: expected"])
        #expect(notified["BlockOperation 'third'"] == ["added", "ready", "started", "finished succeeded"])
    }

    /// The thread that ends the dependency finds the operation ready, and reports late, while another thread is still
    /// adding the operation.
    @Test(.tags(.threads)) func `an operation that starts during its event ready has its event started after that`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        let (isAdded, isReporting, hasStarted) = (Gate(), Gate(), Gate())
        let (dependency, operation) = (Operation(), BlockOperation { hasStarted.open() })
        operation.addDependency(dependency)
        let ender = TestThread {
            isAdded.pass()
            dependency.start()
        }
        let slow = queue.addEventHandler { event in
            if case .ready = event.kind {
                isReporting.open()
                hasStarted.pass()
            }
            log.append(event.word)
        }
        let adding = queue.addEventHandler { event in
            guard case .added = event.kind else { return }
            isAdded.open()
            isReporting.pass()
        }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        ender.join()
        #expect(log.entries == ["added", "ready", "started", "finished succeeded"])
        for watcher in [slow, adding] { queue.removeWatcher(watcher) }
    }

    @Test func `a cancellation is one event, for waiting and for running operations`() async {
        let queue = OperationQueue()
        let events = queue.events
        let begins = AsyncGate()
        let running = queue.addTask(name: "running") {
            begins.open()
            while !Task.isCancelled { await Task.yield() }
        }
        let waiting = queue.addTask(name: "waiting", after: [Operation()]) {}
        await begins.pass()
        for operation in [running, waiting] { for _ in 0..<3 { operation.cancel() } }
        await queue.waitUntilAllOperationsAreFinished()
        var cancelled: [String] = []
        var finished = 0
        for await event in events {
            if case .cancelled = event.kind { cancelled.append(event.operation) }
            if case .finished = event.kind { finished += 1 }
            if finished == 2 { break }
        }
        #expect(cancelled.sorted() == ["TaskOperation 'running'", "TaskOperation 'waiting'"])
    }

    @Test func `a cancellation that is announced several times is one event`() async {
        final class Announcing: Operation, @unchecked Sendable {
            override func cancel() {
                super.cancel()
                for _ in 0..<3 {
                    willChangeValue(for: \.isCancelled)
                    didChangeValue(for: \.isCancelled)
                }
            }
        }
        let queue = OperationQueue()
        queue.isSuspended = true
        let words = Journal<String>()
        let source = queue.addEventHandler { words.append($0.word) }
        let operation = Announcing()
        queue.addOperation(operation)
        operation.cancel()
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
        #expect(words.entries.filter { $0 == "cancelled" }.count == 1)
        queue.removeWatcher(source)
    }

    @Test func `the age of a snapshot is that of an operation that has not ended`() {
        let (statistics, ended, waiting) = (QueueStatistics(), BlockOperation {}, BlockOperation {})
        ended.start()
        #expect(statistics.answer(for: [ended]).age == .zero)
        statistics.operation(waiting, did: .wasAdded)
        #expect(statistics.answer(for: [ended, waiting]).age < statistics.answer(for: [BlockOperation {}]).age)
    }

    @Test func `a stall is an event`() async {
        let queue = OperationQueue()
        queue.stallHandler = { _ in }
        queue.stallDelay = .milliseconds(1)
        let events = queue.events
        let operation = BlockOperation {}
        operation.addDependency(Operation())
        queue.addOperation(operation)
        for await event in events {
            if case .stalled(let report) = event.kind {
                #expect(report.blocked.count == 1)
                break
            }
        }
        operation.cancel()
    }

    @Test func `a stream that includes present operations reports their starts and ends`() async {
        let queue = OperationQueue(name: "present", maxConcurrentOperationCount: 1)
        let (begins, mayEnd) = (AsyncGate(), AsyncGate())
        let first = queue.addTask(name: "first") {
            begins.open()
            await mayEnd.pass()
        }
        let second = queue.addTask(name: "second") {}
        await begins.pass()
        let subscription = ContinuousClock.now
        let events = queue.events(bufferingPolicy: .unbounded, includesPresent: true)
        let last = queue.addTask(name: "last") {}
        mayEnd.open()
        var seen: [UInt64: [String]] = [:]
        for await event in events {
            seen[event.operationID, default: []].append(event.word)
            if event.operationID == first.eventID, case .finished(_, let waited, let ran) = event.kind {
                #expect(waited == .zero && ran! >= event.time - subscription)
            }
            if event.operationID == last.eventID, event.word.hasPrefix("finished") { break }
        }
        #expect(seen[first.eventID] == ["finished succeeded"])
        #expect(seen[second.eventID] == ["ready", "started", "finished succeeded"])
        #expect(seen[last.eventID] == ["added", "ready", "started", "finished succeeded"])
    }

    @Test func `a snapshot that does not measure has counts, and neither an age nor a throughput`() async {
        let queue = OperationQueue(name: "cheap", maxConcurrentOperationCount: 1)
        for _ in 0..<3 { queue.addOperation {} }
        await queue.waitUntilAllOperationsAreFinished()
        queue.isSuspended = true
        queue.addOperation {}
        let snapshot = queue.snapshot(measures: false)
        #expect(snapshot.started == 3 && snapshot.executing == 0 && snapshot.waiting == 1)
        #expect(snapshot.oldestAge == nil && snapshot.throughput == 0)
        #expect(queue.watcherCount == 0)
        #expect(queue.snapshot().oldestAge != nil)
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `releasing a stream removes its watcher`() async {
        let queue = OperationQueue()
        var events: AsyncStream<OperationEvent>? = queue.events
        _ = events
        events = nil
        await queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    }

    /// Operations start and end while the queue is surveyed.
    @Test func `a snapshot never shows more executing operations than the queue has slots`() {
        let queue = OperationQueue(name: "busy", maxConcurrentOperationCount: 2)
        let count = Stress.rounds(20_000, least: 2000)
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation {} }
        queue.isSuspended = false
        var snapshot = queue.snapshot()
        while snapshot.executing + snapshot.waiting > 0 {
            #expect(snapshot.executing <= 2 && snapshot.executing + snapshot.waiting <= count)
            snapshot = queue.snapshot()
        }
    }

    @Test func `a snapshot shows an end that was not announced as an own reason to wait`() {
        let (queue, silent) = (OperationQueue(name: "work"), SilentOperation())
        queue.stallDelay = .zero
        queue.addOperation(silent)
        silent.started.pass()
        until { queue.snapshot().waitingReasons == [.ownReadiness: 1] }
        #expect(queue.snapshot().executing == 0)
        silent.didChangeValue(forKey: "isFinished")
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a snapshot counts executing and waiting operations, and the reasons`() async throws {
        let queue = OperationQueue()
        queue.name = "counted"
        queue.maxConcurrentOperationCount = 1
        _ = queue.snapshot()
        let begins = AsyncGate()
        let mayEnd = AsyncGate()
        queue.addTask {
            begins.open()
            await mayEnd.pass()
        }
        await begins.pass()
        for _ in 0..<3 { queue.addOperation {} }
        let dependent = BlockOperation {}
        let dependency = BlockOperation {}
        dependent.addDependency(dependency)
        queue.addOperation(dependent)
        let snapshot = queue.snapshot()
        #expect(snapshot.executing == 1 && snapshot.waiting == 4)
        #expect(snapshot.waitingReasons == [.slot: 3, .dependencies: 1])
        #expect(snapshot.oldestAge! > .zero && snapshot.throughput == 0)
        #expect(snapshot.description == "'counted': 1 execute, 4 wait (3 for slot, 1 for dependencies)")
        mayEnd.open()
        queue.addOperation(dependency)
        await queue.waitUntilAllOperationsAreFinished()
        let last = queue.snapshot()
        #expect(last.executing == 0 && last.waiting == 0 && last.oldestAge == nil)
        // The operations that finished in the last ten seconds. This task may have waited longer.
        #expect(last.throughput >= 0)
    }
}

/// Ends without an announcement.
private final class SilentOperation: Operations.Operation, @unchecked Sendable {
    private let isOver = Atomic(false)
    let started = Gate()

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { isOver.load(ordering: .acquiring) }

    override func start() {
        isOver.store(true, ordering: .releasing)
        started.open()
    }
}

extension OperationEvent {
    fileprivate var word: String {
        switch kind {
        case .added: "added"
        case .ready: "ready"
        case .started: "started"
        case .finished(let outcome, _, _): "finished \(outcome.map(\.description) ?? "nil")"
        case .cancelled: "cancelled"
        case .stalled: "stalled"
        }
    }
}
