// Step 1 of 5: add. Before: nothing. After: ready.
//
// An adding thread claims the operation (`entering`), reads whether it is ready, makes it part of the queue (`enqueued`)
// and pushes it into the inbox. All this happens without the queue's lock. A change during the read of `isReady` sets
// `askAgain`, so an announcement during the addition is never lost (rule L8).

import SchedulerCore

extension OperationQueue {
    func add(_ operation: Operation) throws(OperationError) {
        guard !hooks.isSet else { return try add(operation) {} }
        try operation.enter(self)
        bring(operation)
        // Another thread may have shut the queue down meanwhile.
        if hooks.isSet { endIfTooLate(operation) }
    }

    /// Adds a block operation that no other code knows, to a queue without hooks. Its word needs no exchange, and the queue takes
    /// over the reference of the caller.
    func addNew(_ operation: consuming BlockOperation) {
        Fork.check()
        HeldLocks.assertNone()
        operation.queue = Unmanaged.passUnretained(self)
        operation.word.initialize(to: .newInQueue)
        if LevelLending.isUsed { operation.place(in: self) }
        let held = Unmanaged.moved(from: operation)
        held._withUnsafeGuaranteedRef { push($0, last: nil, service: .ofQueue) }
        // The operation may be gone. A thread that sets a policy now may not have found it in the queue.
        if PriorityLending.isUsed, hasMembersInherit { lendToMembers() }
    }

    /// Adds an operation to a queue with hooks, or with work to do before the addition.
    ///
    /// - Parameters:
    ///   - check: Called when the operation is claimed for the queue, so that no other thread adds it. An error refuses
    ///     the operation.
    ///   - prepare: Called when the operation is going to be added, before the queue sees it.
    func add(
        _ operation: Operation, check: () throws(OperationError) -> Void = {}, prepare: () -> Void
    ) throws(OperationError) {
        try operation.enter(self)
        do {
            try check()
            for policy in additionPolicies { try policy.mayAdd([operation], to: self) }
        } catch {
            operation.refuse()
            throw error
        }
        prepare()
        noteAddition(of: operation)
        bring(operation)
        endIfTooLate(operation)
    }

    /// Makes a claimed operation part of the queue.
    @inline(__always)
    private func bring(_ operation: Operation) {
        if !operation.isPlainBlock || operation.word.lifecycle.contains(.gated) { operation.prepareWhileEntering(self) }
        var entry: Operation.Entered?
        while entry == nil {
            entry = operation.enqueue(operation.answerWhileEntering())
            // There was a change, which may be a new gate.
            if entry == nil { operation.notifyGatesOfWait(in: self) }
        }
        push(operation, last: nil)
        if entry == .finishAnnounced { operation.finishOrReconsider() }
        operation.waitsNow(in: self)
    }

    /// Adds all operations or none (rule Q2). The queue sees them together, so the highest priority among them starts
    /// first.
    func add(_ operations: [Operation]) throws(OperationError) {
        var arePlain = true
        for (index, operation) in operations.enumerated() {
            do { try operation.enter(self) } catch {
                for entered in operations[..<index] { entered.refuse() }
                throw error
            }
            arePlain = arePlain && operation.isPlainBlock
        }
        if hooks.isSet {
            do { for policy in additionPolicies { try policy.mayAdd(operations, to: self) } } catch {
                for entered in operations { entered.refuse() }
                throw error
            }
            for operation in operations { noteAddition(of: operation) }
        }
        for operation in operations where !operation.isPlainBlock || operation.word.lifecycle.contains(.gated) {
            operation.prepareWhileEntering(self)
        }
        // All are read while all are being added. Then they become part of the queue in one step, and no user code may
        // run between that and the push. User code could end an operation, and that end would wait for the push. Reading
        // plain blocks runs no user code, and one pass less over them saves a tenth of the time.
        let answers = arePlain ? nil : operations.map { $0.answerWhileEntering() }
        var pinned = PinnedOperations(in: .passUnretained(self), limit: .max)
        var finishAnnounced: [Operation] = []
        for (index, operation) in operations.enumerated() {
            var entry = operation.enqueue(answers?[index] ?? operation.answerWhileEntering())
            while entry == nil {
                if !arePlain { pinned.push() }
                operation.notifyGatesOfWait(in: self)
                entry = operation.enqueue(operation.answerWhileEntering())
            }
            pinned.add(.passUnretained(operation))
            if entry == .finishAnnounced { finishAnnounced.append(operation) }
        }
        pinned.push()
        for operation in finishAnnounced { operation.finishOrReconsider() }
        if Operation.waitsAreFollowed { for operation in operations { operation.waitsNow(in: self) } }
        if hooks.isSet { for operation in operations { endIfTooLate(operation) } }
    }
}

extension Operation {
    /// Claims the operation for a queue. Misuse M2 and M3 change nothing.
    @inline(__always)
    fileprivate final func enter(_ queue: OperationQueue) throws(OperationError) {
        Fork.check()
        guard word.update({ $0.entering() }) != nil else { throw misuseOfAdding }
        HeldLocks.assertNone()
        if !isPlainBlock, let misuse = overriddenMisuse() {
            refuse()
            throw misuse
        }
        self.queue = Unmanaged.passUnretained(queue)
        if LevelLending.isUsed { place(in: queue) }
    }

    /// The reason why the operation cannot be claimed for a queue.
    @inline(never)
    private final var misuseOfAdding: OperationError {
        let lifecycle = word.lifecycle
        if lifecycle.isInQueue || lifecycle.phase == .starting { return .alreadyInQueue(operation: label) }
        if lifecycle.isFinished { return .addedAfterFinish(operation: label) }
        return queue == nil ? .addedWhileExecuting(operation: label) : .alreadyInQueue(operation: label)
    }

    /// The misuse that overridden states of a subclass show.
    private final func overriddenMisuse() -> OperationError? {
        let (isFinished, isExecuting) = untracked { (self.isFinished, self.isExecuting) }
        if isFinished { return .addedAfterFinish(operation: label) }
        return isExecuting ? .addedWhileExecuting(operation: label) : nil
    }

    /// Returns the claim. If the end was announced meanwhile, the operation finishes now, outside any queue.
    fileprivate final func refuse() {
        queue = nil
        let old = word.update { $0.refused() }
        if old?.contains(.finishAnnounced) == true { finishIfFinished() }
    }

    /// Does the work that has to precede the addition. It may call user code.
    @inline(never)
    fileprivate final func prepareWhileEntering(_ queue: OperationQueue) {
        if !isPlainBlock {
            prepare(for: Unmanaged.passUnretained(queue))
            followPaths()
        }
        notifyGatesOfWait(in: queue)
    }

    /// Returns the readiness and priority for the queue. Called again when a value has changed meanwhile.
    fileprivate final func answerWhileEntering() -> (isReady: Bool, lane: PriorityLane) {
        HeldLocks.assertNone()
        readService()
        return asked {
            ($0.unfinished == 0 || $0.isCancelled, $0.priority)
        } else: {
            (isReady, queuePriority.lane)
        }
    }

    fileprivate enum Entered { case enqueued, finishAnnounced }

    /// Makes the operation part of the queue, which holds it from now on. The caller pushes it. nil: read again.
    fileprivate final func enqueue(_ answer: (isReady: Bool, lane: PriorityLane)) -> Entered? {
        // Retained before the word has the new phase: from then on any thread may end the operation, and the queue
        // releases it.
        let held = Unmanaged.passRetained(self)
        let entry = word.decide { $0.enqueued(isReady: answer.isReady, priority: answer.lane) }
        if case .enqueued(let next) = entry {
            return next.contains(.finishAnnounced) ? .finishAnnounced : .enqueued
        }
        held.release()
        return nil
    }
}
