#if os(Linux)
import Glibc
import TestSupport
import Testing

@testable import Operations

/// The behavior when the system refuses more threads. Each test limits the memory of a separate process.
@Suite(.tags(.ordinaryConditions)) struct ThreadShortageTests {
    /// Rule Q3: the concurrency limit is a maximum, and fewer running operations are not an error.
    @Test func `all operations run when few threads can be created`() async {
        await #expect(processExitsWith: .success) {
            runOnFewThreads()
        }
    }

    /// The monitor continues to fire timers, and requests refused threads again later.
    @Test func `threads that can be created again are used again`() async {
        await #expect(processExitsWith: .success) {
            goOnAfterShortage()
        }
    }

    /// The operations meet, so every one needs a thread, and the first was refused.
    @Test(.timeLimit(.minutes(5)))
    func `a refused thread is requested again without another event`() async {
        await #expect(processExitsWith: .success) {
            askAgain()
        }
    }

    /// The process has neither a worker nor the monitor.
    @Test(.timeLimit(.minutes(5)))
    func `a thread that waits requests a thread again when the system has refused the very first ones`() async {
        await #expect(processExitsWith: .success) {
            askAgainForTheFirst()
        }
    }

    /// The process has neither a worker nor the monitor, and no thread waits for an operation.
    @Test(.timeLimit(.minutes(5)))
    func `a thread that adds an operation requests a thread again when the system has refused the very first ones`()
        async
    {
        await #expect(processExitsWith: .success) {
            askAgainWithTheNextOperation()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the only worker requests a thread again while its operation waits`() async {
        await #expect(processExitsWith: .success) {
            askAgainWhileTheOnlyWorkerWaits()
        }
    }
}

private func askAgainWhileTheOnlyWorkerWaits() {
    let (queue, runs, taken) = (OperationQueue(), Journal<Int>(), Gate())
    let awaited = BlockOperation { runs.append(0) }
    let relief = TestThread {
        // The worker has requested a thread for the last time when it is blocked.
        while WorkerPool[.normal].state.withLock({ $0[.shared].blocked }) == 0 {}
        for _ in 0..<1000 { sched_yield() }
        allowThreads(200)
    }
    queue.addOperation {
        allowThreads(0)
        precondition(takeThreads(until: taken) < 200)
        queue.addOperation(awaited)
        awaited.waitUntilFinished()
        taken.open()
    }
    queue.waitUntilAllOperationsAreFinished()
    precondition(runs.entries == [0])
    relief.join()
}

private func askAgainForTheFirst() {
    let (queue, runs, taken) = (OperationQueue(), Journal<Int>(), Gate())
    allowThreads(0)
    precondition(takeThreads(until: taken) < 200)
    queue.addOperation { runs.append(0) }
    precondition(runs.entries.isEmpty)
    allowThreads(200)
    queue.waitUntilAllOperationsAreFinished()
    precondition(runs.entries == [0])
    taken.open()
}

private func askAgainWithTheNextOperation() {
    let (queue, ran, taken) = (OperationQueue(), Gate(101), Gate())
    allowThreads(0)
    precondition(takeThreads(until: taken) < 200)
    for _ in 0..<100 { queue.addOperation { ran.open() } }
    precondition(WorkerPool[.normal].state.withLock { $0.requestCount } == 1)
    allowThreads(200)
    queue.addOperation { ran.open() }
    // Not a wait of the library, which would request a thread.
    ran.pass()
    taken.open()
}

private func runOnFewThreads() {
    let (queue, runs) = (OperationQueue(), Journal<Int>())
    queue.maxConcurrentOperationCount = 200
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    allowThreads(5)
    #expect(mostThreads() < 200)
    for i in 0..<1000 {
        queue.addOperation {
            usleep(100)
            runs.append(i)
        }
    }
    queue.waitUntilAllOperationsAreFinished()
    precondition(Set(runs.entries) == Set(0..<1000))
}

private func goOnAfterShortage() {
    let (queue, meeting) = (OperationQueue(), Gate(100))
    queue.maxConcurrentOperationCount = 100
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    allowThreads(5)
    for _ in 0..<100 { queue.addOperation { meeting.meet() } }
    let stalled = OperationQueue()
    let report = Gate()
    stalled.isSuspended = true
    stalled.stallHandler = { _ in report.open() }
    stalled.addOperation {}
    allowThreads(200)
    queue.waitUntilAllOperationsAreFinished()
    stalled.stallDelay = .milliseconds(1)
    report.pass()
}

private func askAgain() {
    // The monitor has a thread when it has fired a timer.
    let observer = StallObserver()
    observer.queue.isSuspended = true
    _ = observer.report { observer.queue.addOperation {} }
    observer.clear()
    // None of the pool's threads is free.
    let busy = HeldQueue(width: 20)
    allowThreads(0)
    // The memory of a thread that has just ended may be available for another thread.
    let taken = Gate()
    precondition(takeThreads(until: taken) < 200)
    let (queue, meeting) = (OperationQueue(), Gate(20))
    queue.maxConcurrentOperationCount = 20
    for _ in 0..<20 { queue.addOperation { meeting.meet() } }
    allowThreads(200)
    queue.waitUntilAllOperationsAreFinished()
    busy.release()
    taken.open()
}

/// Leaves memory for the stacks of this many more threads.
private func allowThreads(_ count: Int) {
    let stack = 8 << 20
    let limit = rlim_t(addressSpaceInUse() + count * stack + stack / 2)
    var bounds = rlimit(rlim_cur: limit, rlim_max: rlim_t.max)
    precondition(setrlimit(Int32(RLIMIT_AS.rawValue), &bounds) == 0)
}

private func addressSpaceInUse() -> Int {
    let file = fopen("/proc/self/statm", "r")!
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    fgets(&line, 256, file)
    return atol(line) * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// Returns the number of threads that can be created now, by trial.
private func mostThreads() -> Int {
    let gate = Gate()
    defer { gate.open() }
    return takeThreads(until: gate)
}

/// Creates all threads that can be created now. They live until the gate opens. Returns their number.
private func takeThreads(until gate: Gate) -> Int {
    for count in 0..<200 {
        var thread = pthread_t()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            Unmanaged<Gate>.fromOpaque(argument!).takeRetainedValue().pass()
            return nil
        }
        let argument = Unmanaged.passRetained(gate)
        guard pthread_create(&thread, nil, body, argument.toOpaque()) == 0 else {
            argument.release()
            return count
        }
        pthread_detach(thread)
    }
    return 200
}
#endif
