import Operations
import OperationsTesting

// The calls of the program, made twice: to the library and to the reference.
extension ManualRun {
    func perform(_ call: RandomProgram.Call) {
        observe()
        guard difference == nil else { return }
        note(call)
        switch call {
        case .add(let number): add([number], isBatch: false)
        case .addBatch(let numbers): add(numbers, isBatch: true)
        case .addWhenRoom(let number): addWhenRoom(number)
        case .addBarrier(let barrier, let queue): addBarrier(barrier, queue: queue)
        case .depend(let number, let other):
            if reference.operations[number].dependencies.insert(other).inserted {
                reference.operations[number].ignored.remove(other)
                reference.operations[number].standing.isKnown = false
                reference.mayBeLentLevel(other)
            }
            operations[number].addDependency(operations[other])
        case .removeDependency(let number, let other):
            reference.operations[number].dependencies.remove(other)
            // A dependency that is removed and added again is a late one.
            earlyDependencies[number]?.remove(other)
            operations[number].removeDependency(operations[other])
        case .cancel(let number):
            if reference.operations[number].phase != .ended { reference.operations[number].isCancelled = true }
            operations[number].cancel()
        case .cancelAll(let queue):
            for number in operations.indices where reference.queues[queue].line.contains(.operation(number)) {
                reference.operations[number].isCancelled = true
            }
            queues[queue].cancelAllOperations()
        case .setPriority(let number, let priority):
            reference.setPriority(priority.rawValue, of: number)
            operations[number].queuePriority = priority
        case .startByHand(let number): startByHand(number)
        case .pause(let number):
            guard let operation = operations[number] as? AsyncOperation else { return }
            reference.operations[number].isPaused = reference.operations[number].phase != .ended
            reference.operations[number].standing.isKnown = false
            reference.operations[number].standing.wasPaused = true
            operation.pause()
        case .resume(let number):
            reference.operations[number].isPaused = false
            (operations[number] as? AsyncOperation)?.resume()
        case .end(let number):
            if reference.operations[number].phase == .running { (operations[number] as? ClassicOperation)?.end() }
        case .wait(let number): wait([number], queue: nil)
        case .waitForAll(let queue): wait([], queue: queue)
        case .step(let count):
            for _ in 0..<count where step() { observe() }
        case .advance:
            // Only at rest, because a timer begins when its task runs.
            while step() { observe() }
            if !isStepping { clock.advanceToNextSleeper() }
        default: steer(call)
        }
        observe()
    }

    /// Work inside a step makes no step itself.
    func step() -> Bool {
        guard !isStepping, difference == nil else { return false }
        isStepping = true
        defer { isStepping = false }
        note("step")
        return executor.step()
    }

    func steer(_ call: RandomProgram.Call) {
        switch call {
        case .setOrder(let isLast, let starvationLimit, let queue):
            reference.setOrder(isLast: isLast, starvationLimit: starvationLimit, queue: queue)
            queues[queue].priorityPolicy = .init(
                order: isLast ? .lastInFirstOut : .firstInFirstOut, inheritsPriority: program.inherits[queue],
                starvationLimit: starvationLimit)
        case .setWidth(let width, let queue):
            reference.queues[queue].width = width
            queues[queue].maxConcurrentOperationCount = width
        case .setSuspended(let isSuspended, let queue):
            reference.queues[queue].isSuspended = isSuspended
            queues[queue].isSuspended = isSuspended
        case .setLimitPerKey(let limit, let queue):
            reference.queues[queue].limitPerKey = limit
            queues[queue].setLimitPerKey(limit)
        case .setLimit(let limit, let key, let queue):
            reference.queues[queue].limits[key] = limit
            queues[queue].setLimit(limit, forKey: "\(key)")
        case .setRateLimit(let rate, let queue):
            (reference.queues[queue].rate, reference.queues[queue].starts) = (rate, [])
            queues[queue].setRateLimit(rate?.limit, clock: clock)
        case .setCapacity(let bound, let overflow, let queue):
            (reference.queues[queue].bound, reference.queues[queue].overflow) = (bound ?? .max / 2, overflow)
            reference.letAddersIn(queue)
            queues[queue].setCapacity(bound, onOverflow: overflow)
        case .setUnits(let capacity):
            reference.capacities[0] = capacity
            pool.setCapacity(capacity, of: "units")
        default: fatalError("not a call that steers: \(call)")
        }
    }

    func add(_ numbers: [Int], isBatch: Bool) {
        let plan = program.plans[numbers[0]]
        guard numbers.allSatisfy({ reference.operations[$0].phase == .idle }) else { return }
        let victims = reference.takePlaces(numbers, queue: plan.queue)
        for victim in victims ?? [] { reference.operations[victim].isCancelled = true }
        // A refused operation has no key: a batch may add it later without one.
        let key = isBatch ? nil : plan.key
        if victims != nil {
            for number in numbers {
                reference.operations[number].key = key
                joined(number, queue: plan.queue)
            }
        }
        let queue = queues[plan.queue]
        do throws(OperationError) {
            if isBatch {
                try queue.tryAddOperations(numbers.map { operations[$0] }, waitUntilFinished: false)
            } else if let key {
                try queue.tryAddOperation(operations[numbers[0]], limitKey: "\(key)")
            } else {
                try queue.tryAddOperation(operations[numbers[0]])
            }
            if victims == nil { fail("the full queue \(plan.queue) accepts \(numbers)") }
        } catch {
            if victims != nil { fail("queue \(plan.queue) refuses \(numbers): \(error)") }
        }
    }

    func joined(_ number: Int, queue: Int) {
        earlyDependencies[number] = reference.operations[number].dependencies
        reference.joined(number, queue: queue)
    }

    func addWhenRoom(_ number: Int) {
        guard reference.operations[number].phase == .idle else { return }
        reference.operations[number].phase = .waitingForRoom
        let queue = program.plans[number].queue
        executor.task { [self] in
            observe()
            if let bound = reference.queues[queue].bound {
                if reference.queues[queue].adders.isEmpty, reference.queues[queue].places < bound {
                    reference.queues[queue].places += 1
                    reference.operations[number].isBounded = true
                } else {
                    reference.queues[queue].adders.append(number)
                }
            }
            try await queues[queue].addOperationWaitingForCapacity(operations[number])
            joined(number, queue: queue)
            observe()
        }
    }

    func addBarrier(_ barrier: Int, queue: Int) {
        guard barriersAdded[barrier] == nil else { return }
        barriersAdded[barrier] = queue
        reference.queues[queue].line.append(.barrier(barrier))
        queues[queue].addBarrierBlock { [self] in
            observe()
            if let obstacle = reference.obstacle(ofBarrier: barrier, in: queue) {
                fail("barrier \(barrier) runs although \(obstacle)")
            }
            if !barriersRun.insert(barrier).inserted { fail("barrier \(barrier) runs twice") }
            note("barrier", barrier)
            reference.queues[queue].line.removeAll { $0 == .barrier(barrier) }
        }
    }

    func startByHand(_ number: Int) {
        let kind = program.plans[number].kind
        guard reference.operations[number].phase == .idle, reference.obstacle(number) == nil,
            [.block, .main, .classic].contains(kind)
        else { return }
        operations[number].start()
    }

    func wait(_ numbers: Set<Int>, queue: Int?) {
        lastWaiter += 1
        let waiter = lastWaiter
        waiters[waiter] = (numbers, queue)
        executor.task { [self] in
            for number in numbers {
                reference.lend(Task.currentPriority, to: number)
                reference.mayBeLentLevel(number)
            }
            for number in numbers { await operations[number].waitUntilFinished() }
            if let queue { await queues[queue].waitUntilAllOperationsAreFinished() }
            observe()
            for number in numbers where reference.operations[number].phase != .ended {
                fail("a task that waits for operation \(number) is resumed too early")
            }
            waiters[waiter] = nil
        }
    }
}

extension RandomProgram.Rate {
    var limit: RateLimit {
        let period = Duration.milliseconds(period)
        return burst.map { .tokenBucket(count, per: period, burst: $0) }
            ?? (.slidingWindow(count, per: period))
    }
}
