import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventHandlerTests {
    @Test func `the waiting time of an operation ends at its start, and its running time at its end`() async throws {
        let queue = OperationQueue()
        let events = Journal<OperationEvent>()
        let watcher = queue.addEventHandler { events.append($0) }
        await queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        queue.removeWatcher(watcher)
        var times: [String: ContinuousClock.Instant] = [:]
        for event in events.entries {
            switch event.kind {
            case .added: times["added"] = event.time
            case .started: times["started"] = event.time
            case .finished(_, let waited, let ran):
                let (added, started) = (try #require(times["added"]), try #require(times["started"]))
                #expect(waited == added.duration(to: started) && ran == started.duration(to: event.time))
                times["finished"] = event.time
            default: break
            }
        }
        #expect(times.count == 3)
    }

    @Test func `a handler that is removed is not called again for an operation that it followed`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let kinds = Journal<String>()
        let watcher = queue.addEventHandler { kinds.append("\($0.kind)") }
        let operation = BlockOperation {}
        queue.addOperation(operation)
        queue.removeWatcher(watcher)
        operation.cancel()
        #expect(kinds.entries == ["added", "ready"])
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a handler that removes itself is not called for an event that was recorded meanwhile`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = BlockOperation {}
        let kinds = Journal<String>()
        let watcher = Guarded<(any QueueWatcher)?>(nil)
        let added = queue.addEventHandler { [weak queue] event in
            kinds.append("\(event.kind)")
            guard case .ready = event.kind else { return }
            operation.cancel()
            if let watcher = watcher.withLock({ $0 }) { queue?.removeWatcher(watcher) }
        }
        watcher.withLock { $0 = added }
        queue.addOperation(operation)
        #expect(kinds.entries == ["added", "ready"])
        watcher.withLock { $0 = nil }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a handler of some kinds receives no others, and observes only the properties that it needs`() throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let expected: [(kinds: OperationEvent.Kinds, observations: Int, events: [String])] = [
            (.steps, 0, ["added", "starts", "was cancelled"]),
            ([.ready, .started], 1, ["ready", "starts"]),
            ([.cancelled], 1, ["cancelled"]),
            (.all, 2, ["added", "ready", "cancelled", "starts", "was cancelled", "stalled"]),
        ]
        for (kinds, observations, events) in expected {
            let received = Journal<String>()
            let watcher = queue.addEventHandler(for: kinds) { received.append("\($0.kind)") }
            let operation = BlockOperation {}
            queue.addOperation(operation)
            #expect(operation.keyValueRegistrar.observationCount == observations)
            let report = try #require(queue.stallReport())
            operation.cancel()
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            watcher.queueStalled(report)
            queue.removeWatcher(watcher)
            queue.isSuspended = true
            #expect(received.entries == events)
        }
    }

    @Test func `an operation has one number in all streams, and no other operation has this number`() async {
        let numbers = Journal<UInt64>()
        for _ in 0..<2 {
            let queue = OperationQueue()
            let watchers = [OperationEvent.Kinds.all, .steps].map { kinds in
                queue.addEventHandler(for: kinds) { numbers.append($0.operationID) }
            }
            await queue.addOperations([BlockOperation {}], waitUntilFinished: true)
            for watcher in watchers { queue.removeWatcher(watcher) }
        }
        // Four events and three events of each of the two operations.
        #expect(numbers.entries.count == 14)
        #expect(Set(numbers.entries).count == 2 && !numbers.entries.contains(0))
        #expect(Set(numbers.entries.prefix(7)).count == 1)
    }

    @Test func `an event has the name of its operation, or the type in place of a missing name`() {
        let (queue, events) = (OperationQueue(), Journal<OperationEvent>())
        queue.isSuspended = true
        let watcher = queue.addEventHandler(for: .added) { events.append($0) }
        let (named, nameless) = (BlockOperation {}, BlockOperation {})
        named.name = "line\nbreak"
        queue.addOperation(named)
        queue.addOperation(nameless)
        queue.removeWatcher(watcher)
        #expect(events.entries.map(\.name) == ["line\nbreak", nil])
        #expect(events.entries.map(\.shortName) == ["line\nbreak", "BlockOperation"])
        #expect(events.entries[0].operation == "BlockOperation 'line\\nbreak'")
        #expect(events.entries[1].operation.hasPrefix("BlockOperation 0x"))
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a message has only the beginning of a very long name`() {
        let operation = BlockOperation {}
        operation.name = String(repeating: "long\n", count: 1_000_000)
        let text = OperationQueue().explain(operation).operation
        #expect(text.hasPrefix("BlockOperation 'long\\nlong") && text.hasSuffix("long\\n…'") && text.utf8.count < 700)
        operation.name = String(repeating: "x", count: 1000)
        #expect(OperationQueue().explain(operation).operation.utf8.count == 1000 + "BlockOperation ''".utf8.count)
    }
}
