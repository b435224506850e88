import Dispatch
@testable import Operations
import Synchronization
import TestSupport
import Testing
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Rule N3: all operations of a queue, and all queues of the process.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct QueueExplanationTests {
    @Test func `a queue lists its executing operations, the oldest first, and then the waiting ones`() {
        let held = HeldQueue(width: 2)
        held.queue.name = "work"
        let waiting = BlockOperation(name: "next") {}
        held.queue.addOperation(waiting)
        let explanation = held.queue.explain()
        #expect(explanation.executing.count == 2 && explanation.waiting.map(\.operation) == ["BlockOperation 'next'"])
        let times = explanation.executing.map(\.executionTime!)
        #expect(times[0] >= times[1])
        #expect(explanation.description.hasPrefix("queue 'work': 2 execute, 1 wait\n  BlockOperation 0x"))
        held.release()
        #expect(held.queue.explain().description == "queue 'work': 0 execute, 0 wait")
    }

    @Test func `a text has at most twenty lines for operations, of which those in the same state share one`() {
        let queue = OperationQueue(name: "work")
        queue.isSuspended = true
        let operations = (0..<24).map { BlockOperation(name: "\($0)") {} }
        for (operation, next) in zip(operations, operations.dropFirst()) { next.addDependency(operation) }
        queue.addOperations(operations, waitUntilFinished: false)
        for _ in 0..<3 { queue.addOperation {} }
        let lines = queue.explain().description.split(separator: "\n")
        #expect(lines.count == 22 && lines[1].hasPrefix("  BlockOperation '0': "))
        #expect(lines[1].hasSuffix("; the same applies to 3 other operations") && lines[2].contains("'1': "))
        #expect(lines.last == "  and 4 more")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `all queues that hold operations are listed in the order of their creation, and queues in groups`() async
    {
        let (first, second, empty) =
            (OperationQueue(name: "first"), OperationQueue(name: "second"), OperationQueue(name: "empty"))
        let gate = AsyncGate()
        let child = TaskOperation(name: "child") { await gate.pass() }
        let group = GroupOperation { [child] }
        group.name = "group"
        second.addOperation(group)
        first.addTask(name: "a") { await gate.pass() }
        await untilTrue { child.isExecuting }
        let all = OperationQueue.explainAll()
        let mine = all.queues.filter { ["first", "second", "empty"].contains($0.queue) }
        #expect(mine.map(\.queue) == ["first", "second", "second"])
        #expect(mine.map(\.path) == [[], [], ["GroupOperation 'group'"]])
        #expect(all.idleQueueCount >= 1)
        #expect(
            all.description.contains(
                "GroupOperation 'group' in queue 'second': 1 execute, 0 wait\n  TaskOperation 'child'"))
        gate.open()
        await first.waitUntilAllOperationsAreFinished()
        await second.waitUntilAllOperationsAreFinished()
        withExtendedLifetime(empty) {}
    }

    @Test func `operations behind a blocked dispatch queue are listed`() {
        let dispatch = DispatchQueue(label: "blocked")
        let (queue, gate) = (OperationQueue(name: "blocked"), Gate())
        queue.underlyingQueue = dispatch
        dispatch.async { gate.pass() }
        queue.addOperation(name: "behind") {}
        let all = OperationQueue.explainAll().queues
        #expect(all.first { $0.queue == "blocked" }?.waiting.map(\.operation) == ["BlockOperation 'behind'"])
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `queues that are released are not listed, also while other threads list`() {
        let isOver = Atomic(false)
        let lister = TestThread {
            while !isOver.load(ordering: .acquiring) { _ = OperationQueue.explainAll() }
        }
        for _ in 0..<Stress.rounds(2000) {
            let queue = OperationQueue(name: "short")
            queue.addOperation {}
            queue.addOperation {}
        }
        isOver.store(true, ordering: .releasing)
        lister.join()
        until { !OperationQueue.explainAll().queues.contains { $0.queue == "short" } }
    }

    @Test func `a signal prints all queues and does not end the process`() async {
        await #expect(processExitsWith: .success) {
            let texts = Journal<String>()
            Log.redirect { texts.append($0) }
            #expect(OperationQueue.printExplanations(onSignal: SIGQUIT))
            #expect(OperationQueue.printExplanations(onSignal: SIGUSR1))
            #expect(!OperationQueue.printExplanations(onSignal: SIGKILL))
            let held = HeldQueue()
            held.queue.name = "work"
            // To the process: threads of Dispatch block signals.
            kill(getpid(), SIGQUIT)
            until { texts.entries.count == 1 }
            kill(getpid(), SIGUSR1)
            until { texts.entries.count == 2 }
            for text in texts.entries {
                #expect(text.hasPrefix("the queues of the process:\nqueue 'work': 1 execute, 0 wait\n  BlockOperation"))
            }
            held.freeOne()
            await held.queue.waitUntilAllOperationsAreFinished()
        }
    }
}
