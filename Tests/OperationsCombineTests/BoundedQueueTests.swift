#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import OperationsTesting
import TestSupport
import Testing

/// Rules U2, M12: a queue with a capacity as a scheduler.
@Suite(.timeLimit(.minutes(5))) struct BoundedQueueTests {
    @Test func `a bounded serial queue receives delayed values in the order of their dates, and then the end`() throws {
        try ManualExecutor.explore(seeds: 0..<50) { executor in
            let (queue, clock, journal) = (executor.makeQueue(), VirtualClock(), Journal<String>())
            queue.maxConcurrentOperationCount = 1
            queue.setCapacity(1)
            let subject = PassthroughSubject<Int, Never>()
            let token = subject.delay(for: .seconds(1), scheduler: queue.scheduler(clock: clock)).sink(
                receiveCompletion: { _ in journal.append("end") }, receiveValue: { journal.append("\($0)") })
            for value in 0..<5 { subject.send(value) }
            subject.send(completion: .finished)
            executor.runUntilIdle(advancing: clock)
            #expect(journal.entries == ["0", "1", "2", "3", "4", "end"])
            withExtendedLifetime(token) {}
        }
    }

    @Test func `an action that becomes due while earlier ones wait for capacity comes after them`() throws {
        try ManualExecutor.explore(seeds: 0..<50) { executor in
            let (queue, clock, journal) = (executor.makeQueue(), VirtualClock(), Journal<Int>())
            queue.maxConcurrentOperationCount = 1
            queue.setCapacity(2)
            let scheduler = queue.scheduler(clock: clock)
            for number in 0..<20 {
                let date = scheduler.now.advanced(by: .milliseconds(10 * (number / 5)))
                scheduler.schedule(after: date) { journal.append(number) }
            }
            executor.runUntilIdle(advancing: clock)
            #expect(journal.entries == Array(0..<20))
        }
    }
}
#endif
