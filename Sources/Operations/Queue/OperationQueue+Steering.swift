import Dispatch
import SchedulerCore
import Synchronization

// Concurrency limit, suspension, service level, name, underlying queue.
extension OperationQueue {
    /// Changes a property under the lock. The main queue ignores the call (rule Q8).
    private func steer<Value>(_ name: String, _ change: (inout State) -> (old: Value, new: Value)) {
        exchange(name) { state -> (old: Value, new: Value)? in
            guard !state.kind.isMain else { return nil }
            let values = change(&state)
            state.opens = true
            watchForStall(&state)
            return values
        }
    }

    func setWidth(_ width: Int) throws(OperationError) {
        guard width >= 0 || width == Self.defaultMaxConcurrentOperationCount else {
            throw .negativeConcurrencyLimit(queue: label, limit: width)
        }
        let before = urgency
        steer("maxConcurrentOperationCount") { state in
            defer { state.width = width }
            let limit = width == Self.defaultMaxConcurrentOperationCount ? Self.defaultMaxThreadCount : width
            state.handle(.setLimit(limit))
            return (state.width, width)
        }
        if before == .shared, urgency == .eager { renewCalls() }
    }

    /// Requests threads anew for the calls that wait for a thread. Their requests have the urgency from before a change.
    private func renewCalls() {
        guard state.withLock({ $0.kind.isPool && $0.underlyingQueue == nil }) else { return }
        for level in ServiceLevel.allCases where signal.isCalling(level) { callWorker(level) }
    }

    func setSuspended(_ isSuspended: Bool) {
        steer("isSuspended") { state in
            defer { state.handle(.setSuspended(isSuspended)) }
            if state.suspendedBeforePause != nil { state.suspendedBeforePause = isSuspended }
            return (state.machine.schedule.isSuspended, isSuspended)
        }
    }

    /// Suspends the queue, or restores the suspension from before the pause. Called when the queue's progress is paused
    /// or resumed.
    package final func setPaused(_ isPaused: Bool) {
        steer("isSuspended") { state in
            let old = state.machine.schedule.isSuspended
            if isPaused, state.suspendedBeforePause == nil { state.suspendedBeforePause = old }
            let new = isPaused ? true : state.suspendedBeforePause.take() ?? old
            state.handle(.setSuspended(new))
            return (old, new)
        }
    }

    func setQualityOfService(_ quality: QualityOfService) {
        steer("qualityOfService") { state in
            defer {
                state.qualityOfService = quality
                updateServiceMap(state)
            }
            return (state.qualityOfService, quality)
        }
        // The worker that was called for a resumption has the old level.
        if hasResumptions { callWorkerIfNone(level) }
        if quality != .default { LevelLending.begin() }
        if LevelLending.isUsed { placeMembers() }
    }

    func setUnderlyingQueue(_ queue: DispatchQueue?) throws(OperationError) {
        let (old, isRefused): (DispatchQueue?, Bool) = withState { state in
            guard state.kind.isPool else { return (nil, false) }
            guard state.machine.schedule.isEmpty else { return (nil, true) }
            let old = state.underlyingQueue
            state.underlyingQueue = queue
            if old !== queue { signal.forgetCalls() }
            updateServiceMap(state)
            return (old, false)
        }
        _ = consume old
        if isRefused { throw .underlyingQueueWhileNotEmpty(queue: label) }
    }

    /// The name that the program has set.
    package final var givenName: String? { state.withLock { $0.name } }

    func readName() -> String? { givenName ?? defaultName }

    func setName(_ name: String?) {
        steer("name") { state in
            let old = state.name
            state.name = name
            // Values as the property returns them: a queue without a name is named after its address.
            return (old ?? defaultName, name ?? defaultName) as (String?, String?)
        }
    }

    private var defaultName: String { "NSOperationQueue \(address)" }

    private var address: String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    }

    /// The queue in messages.
    var label: String { "queue \((readName() ?? "").inQuotes)" }

    func describe() -> String { "<\(type(of: self)) \(address) name: \((readName() ?? "").inQuotes)>" }
}
