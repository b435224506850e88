// Step 1 of 5: add. Before: nothing. After: ready.
//
// An adder claims the operation (`entering`), asks whether it is ready, makes it the queue's (`enqueued`) and pushes it
// into the inbox, all without the queue's lock. Whatever changes while `isReady` is being asked sets `askAgain`, so an
// announcement that arrives in the middle of adding is never lost (rule L8).

import SchedulerCore

extension OperationQueue {
    func add(_ operation: Operation) throws(OperationError) {
        try operation.enter(self)
        push(operation.enqueue(), last: nil)
        finishIfAnnouncedWhileEntering(operation)
    }

    /// Adds all or none (rule Q2).
    func add(_ operations: [Operation]) throws(OperationError) {
        for (index, operation) in operations.enumerated() {
            do { try operation.enter(self) } catch {
                for entered in operations[..<index] { entered.refuse() }
                throw error
            }
        }
        var first: Operation?
        let last = operations.first
        for operation in operations {
            _ = operation.enqueue()
            operation.next = first.map(Unmanaged.passUnretained)
            first = operation
        }
        if let first { push(first, last: last) }
        for operation in operations { finishIfAnnouncedWhileEntering(operation) }
    }

    private func finishIfAnnouncedWhileEntering(_ operation: Operation) {
        if operation.word.lifecycle.contains(.finishAnnounced) { operation.finishIfFinished() }
    }
}

extension Operation {
    /// Claims the operation for a queue; misuse M2 and M3 change nothing.
    fileprivate final func enter(_ queue: OperationQueue) throws(OperationError) {
        guard word.update({ $0.entering() }) != nil else {
            let lifecycle = word.lifecycle
            if lifecycle.isInQueue || lifecycle.phase == .starting { throw .alreadyInQueue(operation: label) }
            if lifecycle.isFinished { throw .addedAfterFinish(operation: label) }
            throw self.queue == nil ? .addedWhileExecuting(operation: label) : .alreadyInQueue(operation: label)
        }
        HeldLocks.assertNone()
        if isFinished {
            refuse()
            throw .addedAfterFinish(operation: label)
        }
        if isExecuting {
            refuse()
            throw .addedWhileExecuting(operation: label)
        }
        self.queue = Unmanaged.passUnretained(queue)
    }

    /// Gives the claim back. What the end was announced for meanwhile happens now, outside any queue.
    fileprivate final func refuse() {
        queue = nil
        let old = word.update { $0.refused() }
        if old?.contains(.finishAnnounced) == true { finishIfFinished() }
    }

    /// Makes the operation the queue's, which holds it from now on. Returns it for the push.
    fileprivate final func enqueue() -> Operation {
        _ = Unmanaged.passRetained(self)
        while true {
            let isReady = isReady
            let priority = queuePriority.lane
            let entry = word.decide {
                $0.enqueued(isReady: isReady, priority: priority)
            } next: {
                switch $0 {
                case .askAgain(let next), .enqueued(let next): next
                }
            }
            if case .enqueued = entry { return self }
        }
    }
}
