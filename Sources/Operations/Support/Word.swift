import SchedulerCore
import Synchronization

/// The state word of one operation: a `Lifecycle` that threads exchange atomically.
struct Word: ~Copyable {
    private let bits: Atomic<UInt64>

    init() { bits = Atomic(Lifecycle().rawValue) }

    // Acquire: a thread that sees a phase also sees earlier writes, such as the queue of an enqueued operation.
    @inline(__always)
    var lifecycle: Lifecycle { Lifecycle(rawValue: bits.load(ordering: .acquiring)) }

    /// Sets the word of an operation that no other thread knows.
    @inline(__always)
    func initialize(to lifecycle: Lifecycle) { bits.store(lifecycle.rawValue, ordering: .relaxed) }

    /// Replaces the word with the result of `transition`. Returns the old word, or nil when the transition declines.
    @inline(__always)
    @discardableResult
    func update(_ transition: (Lifecycle) -> Lifecycle?) -> Lifecycle? {
        var old = lifecycle
        while let new = transition(old) {
            if new.rawValue == old.rawValue { return old }
            Primitives.noteExchange()
            let (done, seen) = bits.weakCompareExchange(
                expected: old.rawValue, desired: new.rawValue, ordering: .acquiringAndReleasing)
            if done { return old }
            old = Lifecycle(rawValue: seen)
        }
        return nil
    }

    /// Sets flags that no transition depends on. Returns the old word.
    @discardableResult
    func insert(_ flags: Lifecycle.Flags) -> Lifecycle {
        Primitives.noteExchange()
        return Lifecycle(rawValue: bits.bitwiseOr(flags.rawValue, ordering: .acquiringAndReleasing).oldValue)
    }

    /// Changes a part of the word that no transition depends on.
    @discardableResult
    func change(_ body: (inout Lifecycle) -> Void) -> Lifecycle {
        update { lifecycle in
            var next = lifecycle
            body(&next)
            return next
        }.unsafelyUnwrapped
    }

    /// Replaces the word by a transition with several answers.
    ///
    /// Exchanges the word even if it stays equal. So the earlier writes of this thread precede any later exchange, such as the
    /// end of another thread's evaluation of `isReady`.
    @inline(__always)
    func decide<Answer: LifecycleAnswer>(_ transition: (Lifecycle) -> Answer) -> Answer {
        var old = lifecycle
        while true {
            let answer = transition(old)
            guard let new = answer.next else { return answer }
            Primitives.noteExchange()
            let (done, seen) = bits.weakCompareExchange(
                expected: old.rawValue, desired: new.rawValue, ordering: .acquiringAndReleasing)
            if done { return answer }
            old = Lifecycle(rawValue: seen)
        }
    }
}
