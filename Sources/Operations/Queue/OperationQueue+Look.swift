import CPlatform
import Dispatch
import SchedulerCore

// The look of a thread for the next operation.
extension OperationQueue {
    /// An operation that this thread has claimed.
    ///
    /// The queue holds a reference to each operation until the operation leaves. A plain block operation that runs at once leaves on
    /// this thread and on no other, so its claim needs no reference. Any other operation may end on another thread before it
    /// has started, and the queue would release it, so its claim has one.
    struct Claim {
        let operation: Unmanaged<Operation>
        /// Whether the claim has a reference.
        let isRetained: Bool
        /// Whether this thread must call `cancel()`, as the queue has promised, and not start the operation. The operation has
        /// no slot.
        let isToCancel: Bool

        /// Must be called under the queue's lock, where the operation is still a member.
        @inline(__always)
        fileprivate init(_ operation: Unmanaged<Operation>, isToCancel: Bool = false) {
            isRetained = isToCancel || !operation._withUnsafeGuaranteedRef { $0.isPlainBlock }
            self.operation = isRetained ? operation.retain() : operation
            self.isToCancel = isToCancel
        }

        /// Ends the use of the operation. Called once.
        @inline(__always)
        func release() { if isRetained { operation.release() } }

        /// Ends the use of the claim, and returns the operation.
        func takeOperation() -> Operation {
            isRetained ? operation.takeRetainedValue() : operation.takeUnretainedValue()
        }
    }

    /// The result of a look for work under the queue's lock.
    struct Look {
        var claim: Claim?
        /// The levels whose workers could start other operations.
        var more = ServiceLevels()
        /// Whether the thread found no operation because another thread is about to push the next one.
        var isBlockedByPin = false
    }

    /// Looks for the next operation that may start on this thread, and claims it.
    ///
    /// - Parameters:
    ///   - level: The level of the worker, which runs operations of this level only. nil for a thread of Dispatch, of a host, or
    ///     the main thread.
    ///   - called: The `underlyingQueue` that runs this thread.
    ///   - arrives: Whether the thread is a worker that has claimed the call of a worker (`Signal`). The claim ends in this look.
    func look(for level: ServiceLevel?, on called: DispatchQueue? = nil, arrives: Bool = false) -> Look {
        var arrives = arrives
        while true {
            let reading = readPolicyClock()
            let (look, isOutdated): (Look, Bool) = withState { state in
                // A thread that was called before a change of `underlyingQueue` must not run the operation.
                guard state.underlyingQueue === called else {
                    if arrives, let level { signal.workerArrived(level) }
                    return (Look(more: startableLevels(&state)), false)
                }
                let services = level.map { serviceMap.services(of: $0) } ?? .all
                var look = self.look(into: &state, for: services, by: reading)
                if arrives, let level {
                    signal.workerArrived(level)
                    // Threads that pushed since the look have called no worker.
                    drain(&state)
                    look.more = startableLevels(&state)
                    arrives = false
                }
                // The caller acts on `more`.
                state.opens = false
                let missesStart = look.claim == nil && state.machine.schedule.hasStartable
                return (look, missesStart && !state.policies.areCurrent(reading))
            }
            if look.isBlockedByPin {
                // The pin is short, and no other operation may start before its end.
                Processor.yield()
            } else if !isOutdated {
                return look
            }
        }
    }

    @inline(__always)
    func look(into state: inout State, for services: Schedule.Services, by reading: PolicyReading? = nil) -> Look {
        var isBlockedByPin = false
        let claim = claim(from: &state, for: services, by: reading, &isBlockedByPin)
        if claim == nil { watchForStall(&state) }
        return Look(claim: claim, more: startableLevels(&state), isBlockedByPin: isBlockedByPin)
    }

    @inline(__always)
    private func claim(
        from state: inout State, for services: Schedule.Services, by reading: PolicyReading?,
        _ isBlockedByPin: inout Bool
    ) -> Claim? {
        while state.policies.isEmpty || state.policiesPermitStart(at: reading),
            let member = state.handle(.look(services))
        {
            let operation = Self.operation(member)
            if let lifecycle = operation._withUnsafeGuaranteedRef({ $0.word.update { $0.claimed() } }) {
                if state.policies.concern(lifecycle) {
                    operation._withUnsafeGuaranteedRef { state.notePoliciesClaimed($0, lifecycle, at: reading) }
                }
                state.starts &+= 1
                prefetch(state.upcoming)
                return Claim(operation)
            }
            switch refuse(member, in: &state) {
            case .lookOn: continue
            case .stop:
                isBlockedByPin = true
                return nil
            case .cancel(let claim): return claim
            }
        }
        return nil
    }

    private enum Refusal {
        case lookOn
        /// The queue starts nothing before another thread has pushed the member, which is soon.
        case stop
        /// This thread has got the promised call of `cancel()`.
        case cancel(Claim)
    }

    /// Begins to fetch the memory of operations that start soon, because they may have left the cache long ago. A fetch is
    /// complete by the turn of its operation.
    @inline(__always)
    private func prefetch(_ upcoming: (near: MemberReference?, far: MemberReference?)) {
        if let far = upcoming.far { cplatform_prefetch(far.toOpaque()) }
        if let near = upcoming.near {
            Self.operation(near)._withUnsafeGuaranteedRef { $0.attachmentsReference.prefetch() }
        }
    }

    /// Puts back a member that could not be claimed. A dependency was added after the operation became ready (rule D2), or the
    /// operation is pinned, and another thread is about to push it. If such an operation needs the last free slot, it keeps its
    /// place: no operation that was added later may start before it.
    @inline(never)
    private func refuse(_ member: MemberReference, in state: inout State) -> Refusal {
        let operation = Self.operation(member)
        return operation._withUnsafeGuaranteedRef { object in
            let lifecycle = object.word.lifecycle
            let isLast = !state.hasSecondSlot
            state.handle(.refuse(member))
            if isLast, lifecycle.isPinnedBriefly(isPlain: object.isPlainBlock) {
                arrive(object, lifecycle, mayStart: true, in: &state)
                return .stop
            }
            if state.policies.concern(lifecycle) { state.notePoliciesNotClaimed(object, lifecycle) }
            return object.word.update { $0.cancelClaimed() } == nil
                ? .lookOn : .cancel(Claim(operation, isToCancel: true))
        }
    }
}

extension OperationQueue.State {
    /// Whether a slot is free besides that of the member that was returned last.
    fileprivate var hasSecondSlot: Bool { machine.schedule.running < machine.schedule.width }
}
