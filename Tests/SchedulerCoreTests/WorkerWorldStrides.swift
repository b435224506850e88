import SchedulerCore

// The steps of a worker, in the order of `Shift`.
extension WorkerWorld {
    mutating func step(_ worker: inout Worker, _ choice: Int) {
        switch worker.step {
        case .sleep:
            requests -= 1
            worker = Worker()
            worker.step = .arrive
        case .arrive:
            calls = false
            worker.step = .turn
        case .turn, .look, .next, .cancel, .cancelled, .end: stepBetween(&worker)
        case .run, .begin, .body, .afterEnd, .returned, .attend, .decided: stepInside(&worker, choice)
        case .prepare, .told, .leave, .leaveSection, .left, .leaveRest, .complete: stepLeaving(&worker)
        case .promise, .release, .take, .again, .resume, .part: stepReleasing(&worker)
        case .linger, .claimCall, .claimedCall, .wait, .waited, .lookedAfterWait: stepLingering(&worker, choice)
        }
    }

    private mutating func stepBetween(_ worker: inout Worker) {
        switch worker.step {
        case .turn:
            let actions = worker.machine.turn(resumption: !worker.isResuming && !resumptions.isEmpty)
            worker.isResuming = false
            (worker.hasLooked, worker.more) = (false, false)
            worker.step = actions.contains(.looks) ? .look(arrives: false, lingers: false) : .next
        case .look(let arrives, let lingers):
            (worker.claim, worker.more, _) = section(claims: true)
            if arrives { calls = false }
            worker.hasLooked = true
            act(worker.machine.looked(claim: worker.claim != nil), &worker)
            if worker.isLast, worker.claim == nil { worker.machine.foundNothing() }
            worker.step = lingers ? .lookedAfterWait : .next
        case .next:
            worker.isLast = false
            if !worker.machine.goesOn {
                act(worker.machine.leavesQueue(), &worker)
                expect(worker.claim == nil, "a worker leaves with a claim")
                worker.step = .end
            } else if let claim = worker.claim {
                worker.operation = claim.operation
                worker.claim = nil
                worker.step = claim.isToCancel ? .cancel : .run
                if claim.isToCancel { act(worker.machine.stepsAside(), &worker) }
            } else if resumptions.isEmpty {
                worker.step = .linger
            } else {
                worker.operation = resumptions.removeFirst()
                worker.isResuming = true
                let actions = worker.machine.tookResumption()
                expect(!actions.contains(.arrives) || !worker.hasLooked, "a look of a worker is out of date")
                act(actions, &worker)
                worker.step = .resume
            }
        case .cancel:
            // `cancel()` makes the operation ready, and pushes it.
            inbox.append(worker.operation)
            worker.step = .cancelled
        case .cancelled:
            advise()
            worker.step = .turn
        default:
            expect(!worker.machine.attends, "a worker leaves, and attends")
            expect(worker.promise == .none, "a worker leaves, and has a promise")
            worker.step = .sleep
            worker = Worker()
        }
    }

    private mutating func stepInside(_ worker: inout Worker, _ choice: Int) {
        let operation = worker.operation
        switch worker.step {
        case .run:
            callOthers(&worker)
            worker.step = .begin
        case .begin:
            checkPromise(worker)
            expect(phases[operation] == .starting, "\(operation) starts twice")
            phases[operation] = .executing
            worker.step = .body
        case .body:
            if scope.kinds[operation] == .async, !worker.isResuming {
                phases[operation] = .suspended
                handed.append(operation)
                worker.step = .returned(hasEnded: false)
            } else {
                expect(phases[operation] == .executing, "\(operation) ends, and does not run")
                phases[operation] = .ended
                if !isPlain(operation) { worker.promise = .departure(operation) }
                worker.step = isPlain(operation) ? .returned(hasEnded: true) : .afterEnd
            }
        case .afterEnd: worker.step = .returned(hasEnded: false)
        case .returned(let hasEnded):
            worker.mayClaim = !scope.isObserved && resumptions.isEmpty
            var departs = hasEnded
            if hasEnded {
                worker.machine.returned(keptPromise: keepsPromise(worker))
            } else {
                if case .departure = worker.promise { departs = true }
                worker.machine.returned(keptPromise: worker.promise != .none)
                worker.promise = .none
            }
            worker.step = .decided(departs: departs)
            switch scope.paces[choice] {
            case .goesOn: break
            case .yields: worker.machine.askedToYield()
            case .shares: act(worker.machine.intervalEnded(isEnoughAlone: false), &worker)
            case .attends:
                let actions = worker.machine.intervalEnded(isEnoughAlone: true)
                if actions.contains(.claimsAttendance) { worker.step = .attend(departs: departs) }
            }
        case .attend(let departs):
            worker.machine.claimedAttendance(!isAttended)
            isAttended = true
            worker.step = .decided(departs: departs)
        case .decided(departs: true):
            let hasDependents = scope.dependencies.values.contains(operation)
            act(worker.machine.ended(hasDependents: hasDependents), &worker)
            worker.step = .prepare
        default:
            worker.promise = .none
            (worker.hasLooked, worker.more) = (false, false)
            worker.step = .promise
        }
    }

    /// Operations that this code adds would call no worker.
    mutating func checkPromise(_ worker: Worker) {
        expect(worker.promise == .none || worker.machine.attends, "code of the user runs with a promise")
    }

    mutating func callOthers(_ worker: inout Worker) {
        guard worker.more || worker.machine.attends || !resumptions.isEmpty else { return }
        if !resumptions.isEmpty { worker.more = true }
        act(worker.machine.runs(othersAttend: isAttended), &worker)
    }

    func keepsPromise(_ worker: Worker) -> Bool { !worker.machine.attends || worker.promise != .none }
}
