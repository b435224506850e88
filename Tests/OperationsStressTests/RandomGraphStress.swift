import Operations
import Synchronization
import TestSupport
import Testing

/// Random graphs over several queues, while other threads cancel, suspend, reorder and change limits. Every operation
/// ends, none runs twice, and none runs before its dependencies.
@Suite(.onOwnThread, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct RandomGraphStress {
    final class Node: Operation, @unchecked Sendable {
        // Sendable: constant, except the atomic.
        let runs = Atomic<Int>(0)
        let isOutOfOrder = Atomic<Bool>(false)

        override func main() {
            runs.wrappingAdd(1, ordering: .relaxed)
            if dependencies.contains(where: { !$0.isFinished }), !isCancelled {
                isOutOfOrder.store(true, ordering: .relaxed)
            }
        }
    }

    @Test(arguments: 1...6)
    func `every operation of a random graph ends once, in order, despite changes of its queues`(seed: UInt64) {
        for round in 0..<UInt64(Stress.rounds(20)) { run(seed: seed &* 1000 &+ round) }
    }

    private func run(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let queues = (0..<3).map { _ in OperationQueue() }
        let widths = [1, 2, 4, OperationQueue.defaultMaxConcurrentOperationCount]
        let nodes = (0..<400).map { _ in Node() }
        for queue in queues { queue.maxConcurrentOperationCount = widths.randomElement(using: &random)! }
        let disturber = OperationQueue()
        disturber.maxConcurrentOperationCount = 2
        for (index, node) in nodes.enumerated() {
            node.completionBlock = { _ = node.name }
            for _ in 0..<Int.random(in: 0...3, using: &random) where index > 0 {
                node.addDependency(nodes[Int.random(in: max(0, index - 40)..<index, using: &random)])
            }
        }
        for part in 0..<2 {
            let partSeed = random.next()
            disturber.addOperation { disturb(queues, nodes, seed: partSeed &+ UInt64(part)) }
        }
        // In the order of their numbers each operation waits for an earlier one, so barriers cannot deadlock. In any
        // other order they can, so there are none.
        let hasBarriers = Bool.random(using: &random)
        for node in hasBarriers ? nodes : nodes.shuffled(using: &random) {
            queues.randomElement(using: &random)!.addOperation(node)
            if hasBarriers, Int.random(in: 0..<50, using: &random) == 0 {
                queues.randomElement(using: &random)!.addBarrierBlock {}
            }
            if Int.random(in: 0..<20, using: &random) == 0, let dependency = node.dependencies.first {
                node.removeDependency(dependency)
            }
        }
        disturber.waitUntilAllOperationsAreFinished()
        for queue in queues { queue.isSuspended = false }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        #expect(nodes.allSatisfy { $0.isFinished })
        #expect(nodes.allSatisfy { $0.runs.load(ordering: .relaxed) <= 1 })
        #expect(nodes.allSatisfy { $0.isCancelled || $0.runs.load(ordering: .relaxed) == 1 }, "seed \(seed)")
        #expect(!nodes.contains { $0.isOutOfOrder.load(ordering: .relaxed) }, "seed \(seed)")
    }
}

private func disturb(_ queues: [OperationQueue], _ nodes: [RandomGraphStress.Node], seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
        let queue = queues.randomElement(using: &random)!
        let node = nodes.randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 0: queue.isSuspended = true
        case 1, 2: queue.isSuspended = false
        case 3: queue.maxConcurrentOperationCount = [1, 2, 3, 8, -1].randomElement(using: &random)!
        case 4: node.cancel()
        case 5: node.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
        case 6: node.didChangeValue(for: \.isReady)
        default: _ = queue.explain(node)
        }
    }
}
