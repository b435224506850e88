import SchedulerCore

// The steps of the threads. Those of a worker are in the other files.
extension WorkerWorld {
    /// The states that one step leads to, with a name of the step.
    var successors: [(step: String, world: WorkerWorld)] {
        var found: [(String, WorkerWorld)] = []
        func add(_ name: String, _ change: (inout WorkerWorld) -> Void) {
            var next = self
            change(&next)
            // Which of two workers is in a state decides nothing.
            if next.workers[0].hashValue > next.workers[1].hashValue { next.workers.swapAt(0, 1) }
            next.checkState()
            found.append((name, next))
        }
        for number in workers.indices {
            for choice in choices(of: number) {
                add("worker \(number) \(workers[number].step) \(choice)") { $0.takeStep(number, choice) }
            }
            if scope.hasMonitor, workers[number].promise != .none, deputy == .idle {
                add("monitor takes \(workers[number].promise)") { world in
                    world.deputy = .took(world.workers[number].promise)
                    world.workers[number].promise = .none
                }
            }
        }
        if deputy != .idle { add("deputy \(deputy)") { $0.takeDeputyStep() } }
        if isCancelling {
            add("canceller advises") { world in
                world.advise()
                world.isCancelling = false
            }
        } else if let operation = cancels.first, passes(.cancel, of: operation) {
            add("cancels \(operation)") { world in
                world.inbox.append(world.cancels.removeFirst())
                world.isCancelling = true
            }
        }
        if isAdding {
            add("adder advises") { world in
                world.advise()
                world.isAdding = false
            }
        } else if added < phases.count, !scope.takesTurns || added == 0 || phases[added - 1] == .finished {
            add("adds \(added)") { world in
                world.phases[world.added] = .enqueued
                world.inbox.append(world.added)
                world.added += 1
                world.isAdding = true
            }
        }
        if resumer {
            add("resumer calls") { world in
                // `Signal.claimCallForResumption`
                if !world.isAttended { world.call() }
                world.resumer = false
            }
        } else if !handed.isEmpty {
            add("resumes") { world in
                world.resumptions.append(world.handed.removeFirst())
                world.resumer = true
            }
        }
        return found
    }

    /// The numbers of the outcomes of a worker's next step; none if it waits.
    private func choices(of number: Int) -> Range<Int> {
        let worker = workers[number]
        if !worker.todo.isEmpty { return 0..<1 }
        switch worker.step {
        case .sleep: return 0..<(requests > 0 ? 1 : 0)
        case .body: return 0..<(passes(worker.isResuming ? .part : .body, of: worker.operation) ? 1 : 0)
        case .afterEnd: return 0..<(passes(.afterEnd, of: worker.operation) ? 1 : 0)
        case .complete: return 0..<(passes(.block, of: worker.operation) ? 1 : 0)
        case .release: return 0..<(passes(.release, of: worker.operation) ? 1 : 0)
        case .cancel: return 0..<(passes(.cancel, of: worker.operation) ? 1 : 0)
        case .returned: return 0..<scope.paces.count
        case .wait: return 0..<2
        default: return 0..<1
        }
    }

    private mutating func takeStep(_ number: Int, _ choice: Int) {
        var worker = workers[number]
        if worker.todo.isEmpty {
            step(&worker, choice)
        } else {
            perform(&worker)
        }
        // No other thread notices these steps, so they are part of the step before.
        while worker.todo.isEmpty, isLocal(worker) { step(&worker, 0) }
        workers[number] = worker
    }

    private func isLocal(_ worker: Worker) -> Bool {
        switch worker.step {
        case .begin, .decided, .promise, .again, .linger: true
        case .afterEnd: !has(.afterEnd, worker.operation)
        case .release: !has(.release, worker.operation)
        default: false
        }
    }

    func has(_ place: Place, _ operation: Int) -> Bool {
        scope.waits.contains { $0.operation == operation && $0.place == place }
    }

    /// Whether the operation runs at once, and no code of the user follows its end.
    func isPlain(_ operation: Int) -> Bool {
        scope.kinds[operation] == .plain || scope.kinds[operation] == .toCancel
    }

    // MARK: Actions

    private static let order: [WorkerMachine.Actions] = [
        .clearsPromise, .promisesLook, .promisesCall, .stopsAttending, .arrives, .callsForAll, .calls,
        .callsOtherLevels, .callsForResumption, .callsSuccessor,
    ]

    func act(_ actions: WorkerMachine.Actions, _ worker: inout Worker) {
        for action in Self.order where actions.contains(action) { worker.todo.insert(action) }
    }

    private mutating func perform(_ worker: inout Worker) {
        guard let action = Self.order.first(where: { worker.todo.contains($0) }) else { return }
        worker.todo.remove(action)
        switch action {
        case .clearsPromise: worker.promise = .none
        case .promisesLook: worker.promise = .look
        case .promisesCall: worker.promise = .call
        case .stopsAttending: isAttended = false
        case .arrives: calls = false
        case .callsForAll:
            worker.more = section().isStartable
            worker.todo.insert([.calls, .callsForResumption])
        case .calls:
            if worker.more { call() }
            worker.more = false
        case .callsForResumption: if !resumptions.isEmpty { call() }
        case .callsSuccessor: call()
        // The worlds have one level.
        default: worker.more = false
        }
    }

    // MARK: Threads in place of a worker

    /// `OperationQueue.fulfill`.
    private mutating func takeDeputyStep() {
        switch deputy {
        case .idle: break
        case .took(let promise):
            if promise == .call { calls = false } else { isAttended = false }
            deputy = .ended(promise)
        case .ended(let promise): deputy = .calls(promise, startable: section().isStartable)
        case .calls(let promise, let startable):
            if startable || !resumptions.isEmpty { call() }
            if case .departure(let operation) = promise { deputy = .acts(operation) } else { deputy = .idle }
        case .acts(let operation):
            deputy = .departs(operation)
            if let dependent = scope.dependencies.first(where: { $0.value == operation })?.key {
                notified.insert(dependent)
                if phases[dependent] == .enqueued, !inbox.contains(dependent) { inbox.append(dependent) }
            }
        case .departs(let operation): deputy = .calls(.none, startable: section(leaving: operation).isStartable)
        }
    }
}
