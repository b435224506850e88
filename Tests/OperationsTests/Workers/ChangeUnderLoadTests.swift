@testable import Operations
import Synchronization
import TestSupport
import Testing

/// Changes of a queue whose call for a thread waits, because operations of other queues compute on all cores.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)), .tags(.threads)) struct ChangeUnderLoadTests {
    @Test func `a queue that gets a limit starts its operation beside computing operations`() {
        let (load, queue, ran) = (Load(.utility), OperationQueue(), Gate())
        queue.qualityOfService = .utility
        queue.addOperation { ran.open() }
        queue.maxConcurrentOperationCount = 4
        ran.pass()
        load.end()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a queue that is raised continues its operation beside computing operations`() {
        let (queue, mayContinue, hasBegun, hasContinued) = (OperationQueue(), AsyncGate(), Gate(), Gate())
        queue.qualityOfService = .background
        queue.addTask {
            hasBegun.open()
            await mayContinue.pass()
            hasContinued.open()
        }
        hasBegun.pass()
        let load = Load(.background)
        mayContinue.open()
        queue.qualityOfService = .userInteractive
        hasContinued.pass()
        load.end()
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Operations of one level that compute on all cores.
private final class Load: Sendable {
    private let queue = OperationQueue()
    // A lock would make the threads wait for each other, and look blocked.
    private let isOver = Atomic(false)

    init(_ quality: QualityOfService) {
        let haveBegun = Gate(Processor.count)
        queue.qualityOfService = quality
        for _ in 0..<Processor.count {
            queue.addOperation {
                haveBegun.open()
                while !self.isOver.load(ordering: .relaxed) {}
            }
        }
        haveBegun.pass()
    }

    func end() {
        isOver.store(true, ordering: .relaxed)
        queue.waitUntilAllOperationsAreFinished()
    }
}
