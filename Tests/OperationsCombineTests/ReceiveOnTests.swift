#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import TestSupport
import Testing

/// Rule U2: `receive(on:)` and `subscribe(on:)` with a queue. The actions are ordinary block operations.
@Suite(.timeLimit(.minutes(5))) struct ReceiveOnTests {
    /// Rule U2.
    @Test func `a serial queue delivers values in the order sent, and the completion last`() {
        let (queue, journal, end) = (OperationQueue(), Journal<Int>(), Gate())
        queue.maxConcurrentOperationCount = 1
        let subject = PassthroughSubject<Int, Never>()
        let token = subject.receive(on: queue).sink(
            receiveCompletion: { _ in
                journal.append(-1)
                end.open()
            }, receiveValue: { journal.append($0) })
        for value in 0..<2000 { subject.send(value) }
        subject.send(completion: .finished)
        end.pass()
        #expect(journal.entries == Array(0..<2000) + [-1])
        token.cancel()
    }

    /// Rule U2.
    @Test func `with a limit of four every value arrives once`() {
        let (queue, journal) = (OperationQueue(), Journal<Int>())
        queue.maxConcurrentOperationCount = 4
        let subject = PassthroughSubject<Int, Never>()
        let token = subject.receive(on: queue).sink { journal.append($0) }
        for value in 0..<2000 { subject.send(value) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(journal.entries.sorted() == Array(0..<2000))
        token.cancel()
    }

    /// Rules U2, Q9.
    @Test func `operations of the queue deliver the values, on its threads`() {
        let queue = OperationQueue()
        let isCurrent = Journal<Bool>()
        let token = Just(1).receive(on: queue).sink(
            receiveCompletion: { _ in isCurrent.append(OperationQueue.current === queue) },
            receiveValue: { _ in isCurrent.append(OperationQueue.current === queue) })
        queue.waitUntilAllOperationsAreFinished()
        #expect(isCurrent.entries.allSatisfy { $0 } && !isCurrent.entries.isEmpty)
        token.cancel()
    }

    /// Rules U2, Q8.
    @Test func `the main queue delivers on the main queue`() async {
        await #expect(processExitsWith: .success) {
            let gate = AsyncGate()
            let token = Just(1).receive(on: OperationQueue.main).sink { _ in
                guard OperationQueue.current === OperationQueue.main else { fatalError("not on the main queue") }
                gate.open()
            }
            await gate.pass()
            withExtendedLifetime(token) {}
        }
    }

    /// Rules U2, Q5.
    @Test func `a suspended queue delivers nothing until it is resumed`() {
        let virtual = VirtualQueue()
        let subject = PassthroughSubject<Int, Never>()
        let token = virtual.note(subject.receive(on: virtual.queue))
        virtual.queue.isSuspended = true
        for value in 1...3 { subject.send(value) }
        virtual.run()
        #expect(virtual.arrivals.isEmpty && virtual.queue.snapshot().waiting == 3)
        virtual.queue.isSuspended = false
        virtual.run()
        #expect(Set(virtual.arrivals) == ["1@0.0", "2@0.0", "3@0.0"])
        token.cancel()
    }

    /// Rules U2, X1, P2.
    @Test func `barriers and priorities apply to scheduled actions`() {
        let virtual = VirtualQueue()
        let queue = virtual.queue
        queue.isSuspended = true
        queue.schedule { virtual.note("scheduled") }
        let urgent = BlockOperation { virtual.note("urgent") }
        urgent.queuePriority = .high
        queue.addOperation(urgent)
        queue.addBarrierBlock { virtual.note("barrier") }
        queue.schedule { virtual.note("behind") }
        queue.isSuspended = false
        virtual.run()
        #expect(virtual.journal.entries.map(\.what) == ["urgent", "scheduled", "barrier", "behind"])
    }

    /// Rules U2, C2.
    @Test func `values whose operations are cancelled are lost, and later ones arrive`() {
        let virtual = VirtualQueue()
        let subject = PassthroughSubject<Int, Never>()
        let token = virtual.note(subject.receive(on: virtual.queue))
        subject.send(1)
        virtual.queue.cancelAllOperations()
        subject.send(2)
        virtual.run()
        #expect(virtual.arrivals == ["2@0.0"])
        token.cancel()
    }

    /// Rule U2.
    @Test func `a cancelled subscription receives no queued values`() {
        let virtual = VirtualQueue()
        let subject = PassthroughSubject<Int, Never>()
        let token = virtual.note(subject.receive(on: virtual.queue))
        subject.send(1)
        token.cancel()
        virtual.run()
        #expect(virtual.arrivals.isEmpty)
    }

    /// Rule U2.
    @Test func `an operation of the queue subscribes to the publisher`() {
        let (queue, isCurrent) = (OperationQueue(), Journal<Bool>())
        let token = Deferred {
            isCurrent.append(OperationQueue.current === queue)
            return Just(1)
        }.subscribe(on: queue).sink { _ in }
        queue.waitUntilAllOperationsAreFinished()
        #expect(isCurrent.entries == [true])
        token.cancel()
    }
}
#endif
