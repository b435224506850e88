import Dispatch
import Operations
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Rule Q8. Each test runs in a separate process, because there is one main queue, and other tests use it too.
///
/// The main thread of a test is parked, and another thread serves its dispatch queue. So the tests check whether code
/// runs on the main dispatch queue.
@Suite(.timeLimit(.minutes(5))) struct MainQueueTests {
    /// Rule Q8.
    @Test func `its operations run on the main dispatch queue, one at a time and in order`() async {
        await #expect(processExitsWith: .success) { runsInOrder() }
    }

    /// Rule Q8.
    @Test func `blocks of the main dispatch queue get their turn between its operations`() async {
        await #expect(processExitsWith: .success) { interleaves() }
    }

    /// Rule Q8.
    @Test func `its concurrency limit, suspension, quality, name and underlying queue are fixed`() async {
        await #expect(processExitsWith: .success) { ignoresSetters() }
    }

    /// Rules Q8, P2.
    @Test func `it follows priorities and dependencies`() async {
        await #expect(processExitsWith: .success) { followsPriorities() }
    }

    /// Rules Q8, Q9.
    @Test func `it is the current queue inside its operations and barriers`() async {
        await #expect(processExitsWith: .success) { isCurrent() }
    }

    /// Rules Q8, Q13.
    @Test func `its operations may add others, wait for other queues and cancel`() async {
        await #expect(processExitsWith: .success) { worksFromInside() }
    }

    /// Rule Q8: an operation that main actor code awaits without blocking.
    @Test func `main actor code may wait for it by await`() async {
        await #expect(processExitsWith: .success) { await waitsOnMainActor() }
    }

    #if os(Linux)
    /// Rules Q8, Q9. The process of this test has an async `main()`, so its first thread has ended up in `dispatch_main()`.
    @Test
    func `beside an async main, it is serial with the main actor, off the first thread, and current in operations`()
        async
    {
        await #expect(processExitsWith: .success) { await sharesTheMainActor() }
    }
    #endif
}

private let mainKey = DispatchSpecificKey<Bool>()

private func isOnMain() -> Bool { DispatchQueue.getSpecific(key: mainKey) == true }

/// An error in the process of the test.
private func check(_ condition: Bool, line: Int = #line) {
    if !condition { fatalError("line \(line)") }
}

private func runsInOrder() {
    DispatchQueue.main.setSpecific(key: mainKey, value: true)
    let (log, counter) = (Journal<Int>(), ConcurrencyCounter())
    for i in 0..<100 {
        OperationQueue.main.addOperation {
            counter.enter()
            check(isOnMain())
            log.append(i)
            counter.leave()
        }
    }
    OperationQueue.main.waitUntilAllOperationsAreFinished()
    check(log.entries == Array(0..<100))
    check(counter.most == 1)
}

private func interleaves() {
    let (log, all) = (Journal<String>(), Gate(6))
    DispatchQueue.main.async {
        for i in 0..<3 {
            OperationQueue.main.addOperation {
                log.append("operation \(i)")
                all.open()
            }
            DispatchQueue.main.async {
                log.append("block \(i)")
                all.open()
            }
        }
    }
    all.pass()
    let entries = log.entries
    check(entries.filter { $0.hasPrefix("operation") } == ["operation 0", "operation 1", "operation 2"])
    check(entries.filter { $0.hasPrefix("block") } == ["block 0", "block 1", "block 2"])
    // The operations do not run without interruption, although all of them were added before the first block ran.
    check(entries.firstIndex(of: "block 0")! < entries.firstIndex(of: "operation 1")!)
}

private func ignoresSetters() {
    let main = OperationQueue.main
    let name = main.name
    check(main.maxConcurrentOperationCount == 1 && !main.isSuspended && main.qualityOfService == .userInteractive)
    main.maxConcurrentOperationCount = 5
    main.isSuspended = true
    main.qualityOfService = .background
    main.name = "mine"
    main.underlyingQueue = DispatchQueue(label: "other")
    check(main.maxConcurrentOperationCount == 1 && !main.isSuspended && main.qualityOfService == .userInteractive)
    check(main.name == name && name != nil)
    check(main === OperationQueue.main)
    DispatchQueue.main.setSpecific(key: mainKey, value: true)
    let log = Journal<Bool>()
    main.addOperation { log.append(isOnMain()) }
    main.waitUntilAllOperationsAreFinished()
    check(log.entries == [true])
}

private func followsPriorities() {
    let (main, log, started, gate) = (OperationQueue.main, Journal<String>(), Gate(), Gate())
    main.addOperation {
        started.open()
        gate.pass()
    }
    started.pass()
    let dependency = BlockOperation { log.append("dependency") }
    for (name, priority) in [("low", Operation.QueuePriority.low), ("high", .high), ("normal", .normal)] {
        let operation = BlockOperation { log.append(name) }
        operation.queuePriority = priority
        if name == "high" { operation.addDependency(dependency) }
        main.addOperation(operation)
    }
    main.addOperation(dependency)
    gate.open()
    main.waitUntilAllOperationsAreFinished()
    check(log.entries == ["normal", "dependency", "high", "low"])
}

private func isCurrent() {
    let log = Journal<OperationQueue?>()
    OperationQueue.main.addOperation { log.append(OperationQueue.current) }
    OperationQueue.main.addBarrierBlock { log.append(OperationQueue.current) }
    OperationQueue.main.waitUntilAllOperationsAreFinished()
    check(log.entries == [OperationQueue.main, OperationQueue.main])
    OperationQueue().addOperations([BlockOperation { log.append(OperationQueue.current) }], waitUntilFinished: true)
    check(log.entries.last != OperationQueue.main)
}

private func worksFromInside() {
    let (main, log, done) = (OperationQueue.main, Journal<String>(), Gate())
    main.addOperation {
        let other = OperationQueue()
        other.addOperations([BlockOperation { log.append("other") }], waitUntilFinished: true)
        main.addOperation { log.append("cancelled") }
        main.cancelAllOperations()
        main.addOperation {
            log.append("added")
            done.open()
        }
        log.append("first")
    }
    done.pass()
    main.waitUntilAllOperationsAreFinished()
    check(log.entries == ["other", "first", "added"])
}

@MainActor private func waitsOnMainActor() async {
    let log = Journal<Int>()
    let operation = BlockOperation { log.append(1) }
    OperationQueue.main.addOperation(operation)
    await operation.waitUntilFinished()
    OperationQueue.main.addOperation { log.append(2) }
    await OperationQueue.main.waitUntilAllOperationsAreFinished()
    check(log.entries == [1, 2])
}

#if os(Linux)
// Swift does not import this.
@_silgen_name("gettid") private func threadNumber() -> pid_t

@MainActor private func sharesTheMainActor() async {
    let (main, counter, current) = (OperationQueue.main, ConcurrencyCounter(), Journal<OperationQueue?>())
    for _ in 0..<100 {
        main.addOperation {
            counter.enter()
            // The first thread has the number of the process.
            check(threadNumber() != getpid())
            current.append(OperationQueue.current)
            counter.leave()
        }
        counter.enter()
        check(threadNumber() != getpid())
        check(OperationQueue.current == nil)
        counter.leave()
        await Task.yield()
    }
    await main.waitUntilAllOperationsAreFinished()
    check(counter.most == 1)
    check(current.entries == Array(repeating: main, count: 100))
}
#endif
