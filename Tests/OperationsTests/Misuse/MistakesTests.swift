@testable import Operations
import TestSupport
import Testing

/// Mistakes that tests of single rules did not notice.
@Suite(.timeLimit(.minutes(5))) struct MistakesTests {
    @Test func `an operation that needs more units than there are is a stall`() throws {
        let queue = OperationQueue()
        let pool = ResourcePool(["unit": 2])
        let operation = BlockOperation {}
        operation.addRequirement(.units(2, of: "unit", in: pool))
        pool.setCapacity(1, of: "unit")
        queue.addOperation(operation)
        let waits = WaitingReason.resource(name: "unit", units: 2, inUse: 0, capacity: 1)
        while queue.explain(operation).reasons != [waits] { Processor.yield() }
        #expect(queue.stallReport()?.blocked.count == 1)
        pool.setCapacity(2, of: "unit")
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a group is not added to a group that it contains, at any depth`() throws {
        let groups = (0..<4).map { _ in GroupOperation() }
        for (outer, inner) in zip(groups, groups.dropFirst()) { outer.addChild(inner) }
        #expect(throws: OperationError.self) { try groups[3].tryAddChild(groups[0]) }
        groups[0].cancel()
        let queue = OperationQueue()
        queue.addOperations([groups[0]], waitUntilFinished: true)
    }

    @Test(
        arguments: [
            (.default, .utility, .utility), (.userInitiated, .utility, .userInitiated),
            (.background, .userInitiated, .userInitiated), (.utility, .default, .utility),
        ] as [(QualityOfService, QualityOfService, QualityOfService)])
    func `an attempt runs at the higher level of its operation and of the queue`(
        own: QualityOfService, outer: QualityOfService, expected: QualityOfService
    ) async throws {
        let queue = OperationQueue()
        queue.qualityOfService = outer
        let seen = Journal<QualityOfService?>()
        let operation = RetryOperation(RetryPolicy(retries: 0)) { _ in
            BlockOperation { seen.append(OperationQueue.current?.qualityOfService) }
        }
        if own != .default { operation.qualityOfService = own }
        await queue.addOperations([operation], waitUntilFinished: true)
        #expect(seen.entries == [expected])
    }

    @Test func `of two hierarchies of control groups the smaller quota counts`() {
        let files = [
            "/proc/self/cgroup": "4:cpu,cpuacct:/app\n0::/app\n",
            "/proc/self/mountinfo": """
            31 23 0:28 / /cpu rw - cgroup cgroup rw,cpu,cpuacct
            32 23 0:29 / /unified rw - cgroup2 cgroup2 rw
            """,
            "/cpu/app/cpu.cfs_quota_us": "200000\n", "/cpu/app/cpu.cfs_period_us": "100000\n",
            "/unified/app/cpu.max": "400000 100000\n",
        ]
        #expect(ControlGroupQuota { files[$0] }.processors == 2)
    }
}
