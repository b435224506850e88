import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite struct OperationRecorderTests {
    @Test func `a recorder has the events of the queues with its own times`() throws {
        let (executor, clock) = (ManualExecutor(), VirtualClock())
        let (first, second) = (executor.makeQueue(), executor.makeQueue())
        (first.name, second.name) = ("first", "second")
        let recorder = OperationRecorder(clock)
        for queue in [first, second, first] { recorder.record(queue) }
        first.addTask(name: "sleep") { try await clock.sleep(for: .seconds(2)) }
        executor.runUntilIdle(advancing: clock)
        second.addOperation(BlockOperation {})
        executor.runUntilIdle()
        let events = recorder.events
        #expect(
            events.map { "\($0.event.shortName) \($0.event.kind)" } == [
                "sleep added", "sleep starts", "sleep succeeded",
                "BlockOperation added", "BlockOperation starts", "BlockOperation succeeded",
            ])
        #expect(events.map(\.time) == [.zero, .zero] + Array(repeating: .seconds(2), count: 4))
        #expect(events.map(\.event.queue) == Array(repeating: "first", count: 3) + Array(repeating: "second", count: 3))
        #expect(Set(events.map(\.event.operationID)).count == 2)
    }

    @Test func `a recorder observes no operation, and has no event of a cancellation or of readiness`() {
        let executor = ManualExecutor()
        let (queue, recorder) = (executor.makeQueue(), OperationRecorder { .zero })
        recorder.record(queue)
        let operation = BlockOperation {}
        queue.addOperation(operation)
        #expect(operation.keyValueRegistrar.observationCount == 0)
        operation.cancel()
        executor.runUntilIdle()
        #expect(recorder.events.map { "\($0.event.kind)" } == ["added", "starts", "was cancelled"])
    }

    @Test func `a recorder ends when it is stopped or released, and leaves nothing in queues`() {
        let queue = ManualExecutor().makeQueue()
        weak var gone: OperationRecorder?
        for _ in 0..<10_000 {
            let recorder = OperationRecorder { .zero }
            recorder.record(queue)
            gone = recorder
        }
        #expect(gone == nil && queue.watcherCount == 0)
        let recorder = OperationRecorder { .zero }
        recorder.record(queue)
        queue.addOperation {}
        recorder.stop()
        queue.addOperation {}
        #expect(recorder.events.count == 1 && queue.watcherCount == 0)
        recorder.record(queue)
        queue.addOperation {}
        #expect(recorder.events.count == 2)
    }

    @Test func `a recorder of many queues, most of which are released, still records the others`() {
        let (executor, recorder) = (ManualExecutor(), OperationRecorder { .zero })
        var kept: [OperationQueue] = []
        weak var gone: OperationQueue?
        for number in 0..<10_000 {
            let queue = executor.makeQueue()
            recorder.record(queue)
            if number % 500 == 0 { kept.append(queue) } else { gone = queue }
        }
        #expect(gone == nil)
        for queue in kept {
            recorder.record(queue)
            queue.addOperation {}
        }
        executor.runUntilIdle()
        #expect(recorder.events.count == 3 * kept.count && kept.count == 20)
        recorder.stop()
        #expect(kept.allSatisfy { $0.watcherCount == 0 })
    }
}
