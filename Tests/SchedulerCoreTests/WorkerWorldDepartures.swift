import SchedulerCore

// The steps of a worker whose operation leaves, and of one that waits for work.
extension WorkerWorld {
    mutating func stepLeaving(_ worker: inout Worker) {
        let operation = worker.operation
        switch worker.step {
        case .prepare:
            worker.step = .leave
            guard let dependent = scope.dependencies.first(where: { $0.value == operation })?.key else { return }
            notified.insert(dependent)
            if phases[dependent] == .enqueued, !inbox.contains(dependent) {
                inbox.append(dependent)
                worker.step = .told
            }
        case .told:
            if worker.promise == .none { advise() }
            worker.step = .leave
        case .leave:
            let actions = worker.machine.leaves(
                mayClaim: worker.mayClaim, codeFollows: isReleased(operation), keptPromise: keepsPromise(worker))
            act(actions, &worker)
            worker.mayClaim = false
            worker.step = .leaveSection(actions.intersection([.claims, .claimsCall]))
        case .leaveSection(let actions):
            let isCalled: Bool
            (worker.claim, worker.more, isCalled) = section(
                leaving: operation, claims: actions.contains(.claims) && !has(.block, operation),
                claimsCall: actions.contains(.claimsCall))
            worker.hasLooked = true
            worker.step = .left(isCalled: isCalled)
        case .left(let isCalled):
            worker.machine.left(isCalled: isCalled, keptPromise: keepsPromise(worker))
            worker.promise = .none
            worker.step = worker.claim == nil ? .leaveRest : .again
        case .leaveRest:
            var facts: WorkerMachine.Facts = []
            if has(.block, operation) { facts.insert(.block) }
            if worker.more { facts.insert(.more) }
            if !resumptions.isEmpty { facts.insert(.resumption) }
            if isAttended { facts.insert(.othersAttend) }
            act(worker.machine.leftWithoutClaim(facts), &worker)
            worker.step = .complete
        default:
            (worker.hasLooked, worker.more) = (false, false)
            let isReleased = isReleased(operation)
            if !isReleased { worker.promise = .none }
            worker.step = isReleased ? .promise : .again
        }
    }

    /// Whether the worker releases the operation under a promise, because code of the user may run.
    func isReleased(_ operation: Int) -> Bool { !isPlain(operation) || has(.release, operation) }

    mutating func stepReleasing(_ worker: inout Worker) {
        switch worker.step {
        case .promise:
            act(worker.machine.releases(), &worker)
            worker.step = .release
        case .release: worker.step = .take
        case .take:
            worker.step = .again
            let actions = worker.machine.released()
            act(actions, &worker)
            guard actions.contains(.takesPromise) else { return }
            let isKept = worker.promise != .none
            worker.promise = .none
            worker.machine.tookPromise(isKept)
        case .again:
            worker.operation = 0
            worker.step = worker.hasLooked ? .next : .turn
        case .resume:
            if worker.hasLooked {
                callOthers(&worker)
            } else {
                act(worker.machine.resumes(othersAttend: isAttended, isBusy: isBusy), &worker)
            }
            worker.step = .part
        default:
            checkPromise(worker)
            expect(phases[worker.operation] == .suspended, "\(worker.operation) is resumed twice")
            phases[worker.operation] = .executing
            worker.step = .body
        }
        if worker.step == .next { worker.isResuming = false }
    }

    mutating func stepLingering(_ worker: inout Worker, _ choice: Int) {
        switch worker.step {
        case .linger:
            (worker.hasLooked, worker.more) = (false, false)
            let actions = worker.machine.hasNothing()
            worker.step = actions.contains(.claimsCall) ? .claimCall : .wait
        case .claimCall: worker.step = .claimedCall(claimCallForSlot())
        case .claimedCall(let isClaimed):
            let actions = worker.machine.claimedCall(isClaimed, resumption: !resumptions.isEmpty)
            worker.step = actions.contains(.waits) ? .wait : .next
        case .wait: worker.step = .waited(arrival: choice == 1 && !inbox.isEmpty)
        case .waited(let arrival):
            let actions = worker.machine.waited(arrival: arrival, resumption: !resumptions.isEmpty)
            act(actions, &worker)
            worker.step = .lookedAfterWait
            if actions.contains(.looks) {
                worker.step = .look(arrives: false, lingers: true)
            } else if actions.contains(.looksAndArrives) {
                worker.step = .look(arrives: true, lingers: true)
            }
        default:
            let actions = worker.machine.lookedAfterWait(claim: worker.claim != nil, resumption: !resumptions.isEmpty)
            act(actions, &worker)
            worker.isLast = actions.contains(.looks)
            worker.step = actions.contains(.looks) ? .turn : .next
        }
    }
}
