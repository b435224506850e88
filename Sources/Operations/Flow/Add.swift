// Step 1 of 5: add. Before: nothing. After: ready.
//
// An adder claims the operation (`entering`), asks whether it is ready, makes it the queue's (`enqueued`) and pushes it
// into the inbox, all without the queue's lock. Whatever changes while `isReady` is being asked sets `askAgain`, so an
// announcement that arrives in the middle of adding is never lost (rule L8).

import SchedulerCore

extension OperationQueue {
    func add(_ operation: Operation) throws(OperationError) {
        guard !boundReference.isSet, !hooks.isSet else { return try add(operation, hasPlace: false) {} }
        try operation.enter(self)
        bring(operation, inherits: false)
    }

    /// The same for a queue that is bounded, or watched, or when there is something to prepare.
    ///
    /// - Parameters:
    ///   - hasPlace: Of a bounded queue, the caller has taken a place for it.
    ///   - check: Called when the operation is claimed for the queue, so that no other thread adds it. What it throws refuses the
    ///     operation.
    ///   - prepare: Called when the operation is going to be added to the queue, which has not seen it yet.
    func add(
        _ operation: Operation, hasPlace: Bool, check: () throws(OperationError) -> Void = {}, prepare: () -> Void
    ) throws(OperationError) {
        try operation.enter(self)
        do { try check() } catch {
            operation.refuse()
            throw error
        }
        if boundReference.isSet { try enterBound(operation, hasPlace: hasPlace) }
        prepare()
        if !operation.word.lifecycle.contains(.unlisted) { tellWatchers(.wasAdded, of: operation) }
        bring(operation, inherits: hasMembersInherit)
    }

    /// What its operations wait for inherits their priorities.
    var hasMembersInherit: Bool { hooks.withLoaded { $0.inheritsPriority } ?? false }

    /// Makes a claimed operation the queue's.
    @inline(__always)
    private func bring(_ operation: Operation, inherits: Bool) {
        if !operation.isPlainBlock || operation.word.lifecycle.contains(.gated) { operation.prepareWhileEntering(self) }
        var entry: Operation.Entered?
        while entry == nil { entry = operation.enqueue(operation.answerWhileEntering(), inherits: inherits) }
        push(operation, last: nil)
        if entry == .finishAnnounced { operation.finishAsAnnounced() }
        if PriorityLending.isUsed { lend(asAdded: operation, inherits: inherits) }
    }

    /// Adds all or none (rule Q2). The queue sees them together, so the highest priority among them starts first.
    func add(_ operations: [Operation]) throws(OperationError) {
        var arePlain = true
        for (index, operation) in operations.enumerated() {
            do { try operation.enter(self) } catch {
                for entered in operations[..<index] { entered.refuse() }
                throw error
            }
            arePlain = arePlain && operation.isPlainBlock
        }
        if boundReference.isSet {
            do { try takePlaces(for: operations) } catch {
                for entered in operations { entered.refuse() }
                throw error
            }
        }
        if hooks.isSet { for operation in operations { tellWatchers(.wasAdded, of: operation) } }
        for operation in operations where !operation.isPlainBlock || operation.word.lifecycle.contains(.gated) {
            operation.prepareWhileEntering(self)
        }
        // All are asked while all are being added. Then they become the queue's in one go: between that and the push no
        // code of the user's may run, for it could end one of them, which would wait for the push to leave the queue.
        // Asking plain blocks runs no such code, and going once less over all of them is a tenth of the time.
        let answers = arePlain ? nil : operations.map { $0.answerWhileEntering() }
        let inherits = hooks.isSet && hasMembersInherit
        var chain = Chain()
        var finishAnnounced: [Operation] = []
        for (index, operation) in operations.enumerated() {
            var entry = operation.enqueue(answers?[index] ?? operation.answerWhileEntering(), inherits: inherits)
            while entry == nil {
                if !arePlain { push(&chain) }
                entry = operation.enqueue(operation.answerWhileEntering(), inherits: inherits)
            }
            chain.append(operation)
            if entry == .finishAnnounced { finishAnnounced.append(operation) }
        }
        push(&chain)
        for operation in finishAnnounced { operation.finishAsAnnounced() }
        if PriorityLending.isUsed { for operation in operations { lend(asAdded: operation, inherits: inherits) } }
    }

    /// The policy may have been set while the operation was on its way, by who has not found it in the queue yet.
    private func lend(asAdded operation: Operation, inherits: Bool) {
        if !inherits, hasMembersInherit { operation.lend(.veryLow, inAnyQueue: true) }
        operation.lendOn()
    }

    private func enterBound(_ operation: Operation, hasPlace: Bool) throws(OperationError) {
        guard !operation.word.lifecycle.contains(.unlisted) else { return }
        if hasPlace {
            operation.word.insert(.bounded)
            return
        }
        do { try takePlaces(for: [operation]) } catch {
            operation.refuse()
            throw error
        }
    }

    /// Operations linked for one push, the last added first.
    private struct Chain {
        var first: Operation?
        var last: Operation?

        mutating func append(_ operation: Operation) {
            operation.next = first.map(Unmanaged.passUnretained)
            first = operation
            if last == nil { last = operation }
        }
    }

    private func push(_ chain: inout Chain) {
        if let first = chain.first { push(first, last: chain.last) }
        chain = Chain()
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
        if !isPlainBlock, let misuse = overriddenMisuse() {
            refuse()
            throw misuse
        }
        self.queue = Unmanaged.passUnretained(queue)
    }

    /// Misuse that a subclass tells by its overridden states.
    private final func overriddenMisuse() -> OperationError? {
        let (isFinished, isExecuting) = untracked { (self.isFinished, self.isExecuting) }
        if isFinished { return .addedAfterFinish(operation: label) }
        return isExecuting ? .addedWhileExecuting(operation: label) : nil
    }

    /// Gives the claim back. What the end was announced for meanwhile happens now, outside any queue.
    fileprivate final func refuse() {
        queue = nil
        let old = word.update { $0.refused() }
        if old?.contains(.finishAnnounced) == true { finishIfFinished() }
    }

    /// What has to be made before the queue sees it. It may call code of the user's.
    @inline(never)
    fileprivate final func prepareWhileEntering(_ queue: OperationQueue) {
        if !isPlainBlock {
            prepare(for: Unmanaged.passUnretained(queue))
            followPaths()
        }
        if word.lifecycle.contains(.gated) { beginDeadlines() }
    }

    /// What the queue has to know of it; asked anew when something changed meanwhile.
    fileprivate final func answerWhileEntering() -> (isReady: Bool, lane: PriorityLane) {
        HeldLocks.assertNone()
        return asked {
            ($0.unfinished == 0 || $0.isCancelled, $0.priority)
        } else: {
            (isReady, queuePriority.lane)
        }
    }

    fileprivate enum Entered { case enqueued, finishAnnounced }

    /// Makes the operation the queue's, which holds it from now on; the caller pushes it. nil: ask again.
    fileprivate final func enqueue(_ answer: (isReady: Bool, lane: PriorityLane), inherits: Bool) -> Entered? {
        // Held before the word says so: the next moment anybody may end it, and the queue lets it go.
        let held = Unmanaged.passRetained(self)
        let entry = word.decide {
            $0.enqueued(isReady: answer.isReady, priority: answer.lane, inherits: inherits)
        } next: {
            switch $0 {
            case .askAgain(let next), .enqueued(let next): next
            }
        }
        if case .enqueued(let next) = entry {
            // The task has not been launched, and has no handlers of the user's yet.
            if inherits { raiseTaskAsLent() }
            return next.contains(.finishAnnounced) ? .finishAnnounced : .enqueued
        }
        held.release()
        return nil
    }

    /// The end was announced while it was being added. Should it have been taken back, it is asked anew.
    fileprivate final func finishAsAnnounced() {
        finishIfFinished()
        reconsiderReadiness()
    }
}
