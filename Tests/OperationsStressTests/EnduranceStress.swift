import Operations
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Very many operations, in rounds: random graphs with priorities over three queues. Two threads add them, while two
/// other threads cancel, suspend and change limits and priorities. No operation is lost, runs twice, or runs before its
/// dependencies.
///
/// `OPERATIONS_STRESS_COUNT` sets the number of operations. `OPERATIONS_STRESS_SEED` repeats a run. The test prints both.
@Suite(.onOwnThread, .tags(.threads, .release, .slow)) struct EnduranceStress {
    @Test func `of very many operations, none is lost, runs twice, or runs too early`() {
        let count = number("OPERATIONS_STRESS_COUNT") ?? UInt64(Stress.rounds(200_000, small: 5_000))
        let seed = number("OPERATIONS_STRESS_SEED") ?? UInt64.random(in: 0..<1 << 32)
        var (random, done, runs) = (SeededRandom(seed: seed), UInt64(0), 0)
        let time = ContinuousClock().measure {
            while done < count {
                let round = Round(seed: random.next())
                round.run()
                runs += round.runs
                done += UInt64(Round.size)
            }
        }
        print("endurance: seed \(seed), \(done) operations, \(runs) ran, the others were cancelled; \(time)")
    }

    private func number(_ variable: String) -> UInt64? { getenv(variable).flatMap { UInt64(String(cString: $0)) } }
}

/// The operations that have run, with the number of runs.
private final class Board: Sendable {
    private let counts: [Count]
    let isOutOfOrder = Atomic(false)

    private final class Count: Sendable { let value = Atomic(0) }

    init(_ size: Int) { counts = (0..<size).map { _ in Count() } }

    func ran(_ index: Int, after dependencies: [Operation]) {
        counts[index].value.add(1, ordering: .relaxed)
        if !dependencies.allSatisfy(\.isFinished) { isOutOfOrder.store(true, ordering: .relaxed) }
    }

    func runs(_ index: Int) -> Int { counts[index].value.load(ordering: .relaxed) }
}

private final class Node: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override func main() { body() }
}

private final class Round {
    static let size = min(20_000, Stress.rounds(20_000, least: 5_000))
    private static let widths = [1, 2, 3, 8, OperationQueue.defaultMaxConcurrentOperationCount]

    private let seed: UInt64
    private let board = Board(Round.size)
    private let queues = (0..<3).map { _ in OperationQueue() }
    private(set) var runs = 0

    init(seed: UInt64) { self.seed = seed }

    func run() {
        var random = SeededRandom(seed: seed)
        let operations = graph(&random)
        for queue in queues { queue.maxConcurrentOperationCount = Self.widths.randomElement(using: &random)! }
        let over = Over()
        let seeds = (random.next(), random.next())
        let disturbers = [seeds.0, seeds.1].map { [queues] seed in
            TestThread { disturb(queues, operations, over, seed: seed) }
        }
        let adders = (0..<2).map { part in
            TestThread { [queues] in
                for index in stride(from: part, to: Round.size, by: 2) {
                    queues[index % 3].addOperation(operations[index])
                }
            }
        }
        for adder in adders { adder.join() }
        over.flag.store(true, ordering: .relaxed)
        for disturber in disturbers { disturber.join() }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        check(operations)
    }

    private func graph(_ random: inout SeededRandom) -> [Operation] {
        var operations: [Operation] = []
        operations.reserveCapacity(Self.size)
        for index in 0..<Self.size {
            var dependencies: [Operation] = []
            if index > 0 {
                for _ in 0..<[0, 0, 1, 1, 2, 4].randomElement(using: &random)! {
                    dependencies.append(operations[Int.random(in: max(0, index - 500)..<index, using: &random)])
                }
            }
            let body: @Sendable () -> Void = { [board, dependencies] in board.ran(index, after: dependencies) }
            let operation = Bool.random(using: &random) ? BlockOperation(block: body) : Node(body)
            for dependency in dependencies { operation.addDependency(dependency) }
            if index % 7 == 0 {
                operation.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
            }
            operations.append(operation)
        }
        return operations
    }

    private func check(_ operations: [Operation]) {
        for (index, operation) in operations.enumerated() {
            let runs = board.runs(index)
            self.runs += runs
            let isRight = operation.isFinished && (runs == 1 || runs == 0 && operation.isCancelled)
            if !isRight { Issue.record("\(operation) ran \(runs) times; seed \(seed)") }
        }
        let isOutOfOrder = board.isOutOfOrder.load(ordering: .relaxed)
        #expect(!isOutOfOrder, "seed \(seed)")
    }
}

private final class Over: Sendable { let flag = Atomic(false) }

private func disturb(_ queues: [OperationQueue], _ operations: [Operation], _ over: Over, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    while !over.flag.load(ordering: .relaxed) {
        let queue = queues.randomElement(using: &random)!
        let operation = operations.randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 0: queue.isSuspended = true
        case 1, 2: queue.isSuspended = false
        case 3: queue.maxConcurrentOperationCount = [1, 2, 3, 8, -1].randomElement(using: &random)!
        case 4, 5: operation.cancel()
        case 6: operation.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random)!
        default: operation.didChangeValue(for: \.isReady)
        }
    }
}
