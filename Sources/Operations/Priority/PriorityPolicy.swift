import SchedulerCore

extension OperationQueue {
    /// What may have an operation start before its `queuePriority` and its arrival say so (rule P2 otherwise).
    ///
    ///     queue.priorityPolicy = try .init(inheritsPriority: true, ageingLimit: 100)
    public struct PriorityPolicy: Sendable, Equatable {
        /// Nothing: the order that is documented of operation queues.
        public static let documented = Self()

        /// In which order operations of one priority start.
        public enum Order: Sendable {
            /// As they entered the queue, as is documented.
            case firstInFirstOut
            /// Of those that are ready, the one that has become so last.
            case lastInFirstOut
        }

        public let order: Order

        /// An operation stands at least as high as what waits for it: operations that depend on it or wait for it, in
        /// whatever queue, directly or through others, and tasks that await it.
        public let inheritsPriority: Bool

        /// How often in a row the operations of one priority may be passed over for higher ones before the first of them has
        /// a turn; nil for ever. When several priorities are due at once, up to three more go before.
        public let ageingLimit: Int?

        private init() {
            order = .firstInFirstOut
            inheritsPriority = false
            ageingLimit = nil
        }

        /// - Parameters:
        ///   - order: In which order operations of one priority start.
        ///   - inheritsPriority: Whether an operation stands as high as what waits for it.
        ///   - ageingLimit: How often in a row a priority may be passed over; nil for ever.
        /// - Throws: `PolicyError` when the limit is below 1.
        public init(
            order: Order = .firstInFirstOut, inheritsPriority: Bool = false, ageingLimit: Int? = nil
        ) throws(PolicyError) {
            if let ageingLimit, ageingLimit < 1 { throw .ageingNotPositive(ageingLimit) }
            self.order = order
            self.inheritsPriority = inheritsPriority
            self.ageingLimit = ageingLimit
        }
    }

    /// What may have an operation start before its `queuePriority` and its arrival say so; by default nothing.
    ///
    /// It takes effect at once for what waits in the queue. Inheriting begins with those who begin to wait from then on: of
    /// earlier ones only the queue's own operations lend their priority. What has been raised stays raised, also when
    /// inheriting is switched off again.
    ///
    /// A changed order holds for what waits as well: it stands by its arrival then.
    ///
    /// None of these changes which operations are ready, how many run, or what barriers hold back; and none stands above the
    /// turns of keys, resources and rates. O(n) to set, O(n log n) where the order changes.
    public final var priorityPolicy: PriorityPolicy {
        get { hooks.load()?.priorityPolicy.withLock { $0 } ?? .documented }
        set { setPriorityPolicy(newValue) }
    }

    private func setPriorityPolicy(_ policy: PriorityPolicy) {
        if policy.inheritsPriority { PriorityLending.begin() }
        // Before the operations are listed: who is added meanwhile is listed, or sees it.
        ownHooks.set(policy)
        let members = withState { state in
            state.schedule.setOrder(policy.order == .lastInFirstOut ? .lastInFirstOut : .firstInFirstOut)
            state.schedule.setAgeing(limit: policy.ageingLimit)
            return policy.inheritsPriority ? state.arrivals : []
        }
        for (_, operation) in members.sorted(by: { $0.arrival < $1.arrival }) {
            operation.lend(.veryLow, inAnyQueue: true)
            operation.lendOn()
        }
    }
}
