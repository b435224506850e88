import SchedulerCore

extension OperationQueue {
    /// A rule by which a queue deviates from the order of `queuePriority` and arrival.
    ///
    /// ```swift
    /// queue.priorityPolicy = .init(inheritsPriority: true, starvationLimit: 100)
    /// ```
    public struct PriorityPolicy: Sendable, Equatable {
        /// The documented order of operation queues.
        public static let `default` = Self()

        /// The order in which operations of the same priority start.
        public enum Order: Sendable {
            /// The order in which operations were added. This is the documented order.
            case firstInFirstOut
            /// The operation that became ready last starts first.
            case lastInFirstOut
        }

        /// The order in which operations of the same priority start.
        public let order: Order

        /// Whether an operation has at least the priority of its waiters. Waiters are tasks that await it, and operations
        /// of any queue that depend on it or wait for it, directly or through others.
        public let inheritsPriority: Bool

        /// The number of times in a row that operations of a priority may be passed over for higher ones; nil for no
        /// limit.
        ///
        /// After that number, the first operation of the priority starts. If several priorities are due at the same time,
        /// up to three more operations start first.
        public let starvationLimit: Int?

        /// Creates a policy.
        ///
        /// - Parameters:
        ///   - order: The order in which operations of the same priority start.
        ///   - inheritsPriority: Whether an operation has at least the priority of its waiters.
        ///   - starvationLimit: The number of times in a row that a priority may be passed over; nil for no limit.
        /// The call stops the process if the limit is below 1.
        public init(
            order: Order = .firstInFirstOut, inheritsPriority: Bool = false, starvationLimit: Int? = nil
        ) {
            if let starvationLimit, starvationLimit < 1 { InvalidPolicy.starvationLimit(starvationLimit).stop() }
            self.order = order
            self.inheritsPriority = inheritsPriority
            self.starvationLimit = starvationLimit
        }
    }

    /// The rule by which the queue deviates from the order of `queuePriority` and arrival. The default is ``PriorityPolicy/default``.
    ///
    /// A change takes effect at once for waiting operations. Inheritance applies to waiters that begin to wait after the
    /// change. Of earlier waiters, only operations of this queue pass on their priority. An operation keeps an inherited
    /// priority, also after inheritance is switched off. With a changed order, waiting operations are ordered by their
    /// arrival.
    ///
    /// A policy does not change which operations are ready, how many run, or how barriers work. Keys, resources and rates
    /// keep their own order. O(n) to set, O(n log n) if the order changes or inheritance is on.
    public final var priorityPolicy: PriorityPolicy {
        get { hooks.load()?.priorityPolicy.withLock { $0 } ?? .default }
        set { setPriorityPolicy(newValue) }
    }

    private func setPriorityPolicy(_ policy: PriorityPolicy) {
        ownHooks.priorityPolicy.withLock { $0 = policy }
        // Of two setters, the first one may apply its policy last. So each applies the present policy until it is the present one
        // afterward too.
        var present = policy
        repeat {
            present = priorityPolicy
            apply(present)
        } while present != priorityPolicy
    }

    private func apply(_ policy: PriorityPolicy) {
        if policy.inheritsPriority { PriorityLending.begin() }
        // Before the operations are listed: an operation that is added meanwhile is listed, or sees the policy.
        if policy.inheritsPriority {
            _ = ownHooks.addIfNone(PriorityInheritance())
        } else {
            ownHooks.removeAdditionPolicy(PriorityInheritance.self)
        }
        withState { state in
            state.handle(.setOrder(policy.order == .lastInFirstOut ? .lastInFirstOut : .firstInFirstOut))
            state.handle(.setAging(limit: policy.starvationLimit))
        }
        if policy.inheritsPriority { lendToMembers() }
    }

    /// Lets all operations of the queue inherit priorities, and pass on their own. O(n log n).
    func lendToMembers() {
        for operation in listed() {
            operation.lend(.veryLow, inAnyQueue: true)
            operation.lendOn()
        }
    }
}
