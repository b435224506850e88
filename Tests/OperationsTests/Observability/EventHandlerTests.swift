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
}
