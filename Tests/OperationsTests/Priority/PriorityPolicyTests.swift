@testable import Operations
import SchedulerCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct PriorityPolicyTests {
    @Test func `after threads have set policies at once, the queue behaves by the policy that it returns`() {
        let queue = OperationQueue()
        let policies: [OperationQueue.PriorityPolicy] = [
            .init(order: .lastInFirstOut, inheritsPriority: true), .default,
        ]
        for _ in 0..<Stress.rounds(5_000, least: 1_000) {
            let meeting = Gate(policies.count)
            let threads = policies.map { policy in
                TestThread {
                    meeting.meet()
                    queue.priorityPolicy = policy
                }
            }
            for thread in threads { thread.join() }
            let policy = queue.priorityPolicy
            let order = queue.withState { $0.machine.schedule.order }
            #expect(order == (policy.order == .lastInFirstOut ? .lastInFirstOut : .firstInFirstOut))
            #expect(queue.hooks.load()?.additionPolicies.isEmpty == !policy.inheritsPriority)
        }
    }
}
