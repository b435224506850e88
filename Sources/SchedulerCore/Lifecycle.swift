/// A snapshot of one operation's state word: the phase, the past events, and the optional parts to handle at the finish.
///
/// Threads race for this word and for nothing else. Each method is one transition. It returns the next word, or nil if the
/// transition is not legal. The shell swaps the word with compare-and-exchange, and acts only on the result of a successful
/// swap.
///
/// Legal paths of the phase:
///
///     idle ──► entering ──► enqueued ──► starting ──► executing ──► ended ──► finishing ──► finished
///       ▲          │            │            │            │                      ▲
///       └──────────┘            └────────────┴────────────┴──────────────────────┘
///     (batch refused)           (an announcement of isFinished from user code)
///
///     idle ──► executing | ended | finishing        the same without a queue: `start()` called by hand
///     starting ──► ended                            cancelled before it started: `main()` is skipped
///     starting ──► enqueued                         held back between claim and start
///     executing ──► enqueued                        paused: it has released its slot, and starts again later
///
/// Invariants:
/// - `isCancelled` is set at most once and never after `ended`.
/// - While `inInbox` or `evaluating` is set in `enqueued`, the operation is *pinned*: it neither starts nor leaves its
///   queue. The thread that set the bit may use the operation and the queue without a reference of its own. This right ends
///   when the thread has pushed the operation or has stored the result of the evaluation.
/// - `unfinished` counts dependencies that have not finished. The count grows only before the start. An operation that starts
///   cancelled may still have unfinished dependencies, and the count falls later.
@frozen
public struct Lifecycle: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt64

    @inlinable @inline(__always)
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The word of a new operation: idle, normal priority, quality of service never set.
    @inlinable @inline(__always)
    public init() {
        self.init(rawValue: 0)
        priority = .normal
        effectivePriority = .normal
    }
}

// MARK: - Parts of the word

/// | bits  | part                                        |
/// |-------|---------------------------------------------|
/// | 0–2   | `phase`                                     |
/// | 3–14  | flags by which transitions decide           |
/// | 15–25 | flags of the parts that the operation has   |
/// | 26–28 | `priority`, as set                          |
/// | 29–31 | `effectivePriority`, as scheduled           |
/// | 32–56 | `unfinished`                                |
/// | 57–59 | `serviceIndex`                              |
/// | 60    | free                                        |
/// | 61–63 | `lentPriority`                              |
extension Lifecycle {
    @frozen
    public enum Phase: UInt8, Sendable, CaseIterable {
        case idle, entering, enqueued, starting, executing, ended, finishing, finished
    }

    @frozen
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt64
        @inlinable @inline(__always) public init(rawValue: UInt64) { self.rawValue = rawValue }
        @inlinable @inline(__always) init(bit: UInt64) { self.init(rawValue: 1 << bit) }

        // By these, transitions decide.

        @inlinable @inline(__always) public static var cancelled: Flags { Flags(bit: 3) }
        /// The queue will cancel the operation. The operation does not start until a thread has called `cancel()`.
        @inlinable @inline(__always) public static var cancelPromised: Flags { Flags(bit: 4) }
        /// A thread has claimed the promised call of `cancel()`.
        @inlinable @inline(__always) public static var cancelClaimed: Flags { Flags(bit: 5) }
        /// The queue may start the operation: `isReady` was true at the last evaluation.
        @inlinable @inline(__always) public static var ready: Flags { Flags(bit: 6) }
        /// The operation is, or is about to be, in its queue's inbox.
        @inlinable @inline(__always) public static var inInbox: Flags { Flags(bit: 7) }
        /// One thread evaluates `isReady`. Another thread that causes a change meanwhile sets `askAgain`.
        @inlinable @inline(__always) public static var evaluating: Flags { Flags(bit: 8) }
        @inlinable @inline(__always) public static var askAgain: Flags { Flags(bit: 9) }
        /// A thread has claimed the operation and has not started it. Dependencies still hold the operation back. Another
        /// thread that announces the end leaves the finish to the claiming thread.
        @inlinable @inline(__always) public static var admitting: Flags { Flags(bit: 10) }
        /// The end was announced while another thread added, evaluated or admitted the operation.
        @inlinable @inline(__always) public static var finishAnnounced: Flags { Flags(bit: 11) }
        /// Gates, besides dependencies, may hold the operation back. A thread checks them just before the start: see
        /// `Admit.swift`.
        @inlinable @inline(__always) public static var gated: Flags { Flags(bit: 12) }
        /// The work has begun: the operation has released its slot at least once while it executed.
        @inlinable @inline(__always) public static var hasBegun: Flags { Flags(bit: 13) }
        /// The effective priority is at least `lentPriority`, because of the queue's policy or of a task that awaits the value.
        @inlinable @inline(__always) public static var inherits: Flags { Flags(bit: 14) }

        // One for each optional part. The thread that adds, starts or finishes the operation handles the part.

        /// Other operations depend on this operation.
        @inlinable @inline(__always) public static var hasDependents: Flags { Flags(bit: 15) }
        @inlinable @inline(__always) public static var hasCompletionBlock: Flags { Flags(bit: 16) }
        @inlinable @inline(__always) public static var hasWaiters: Flags { Flags(bit: 17) }
        /// At least one property has an observer.
        @inlinable @inline(__always) public static var observed: Flags { Flags(bit: 18) }
        /// The operation has reported a failure.
        @inlinable @inline(__always) public static var hasFailed: Flags { Flags(bit: 19) }
        /// The operation finished through `main()`, so a queue's progress counts it.
        @inlinable @inline(__always) public static var ranMain: Flags { Flags(bit: 20) }
        /// The operation was added to a queue, which holds the operation until it has left.
        @inlinable @inline(__always) public static var queued: Flags { Flags(bit: 21) }
        @inlinable @inline(__always) public static var barrier: Flags { Flags(bit: 22) }
        /// Not an operation for users: a barrier, or a job of a task. Not counted, listed, or cancelled.
        @inlinable @inline(__always) public static var unlisted: Flags { Flags(bit: 23) }
        /// The operation has a place of a bounded queue, and frees the place when it has left.
        @inlinable @inline(__always) public static var bounded: Flags { Flags(bit: 24) }
        /// The operation has a key, and starts only with the turn of the key.
        @inlinable @inline(__always) public static var keyed: Flags { Flags(bit: 25) }
        /// The flags of operations that policies of a queue concern.
        @inlinable @inline(__always) public static var policies: Flags { [.gated, .bounded, .keyed] }
    }

    @inlinable @inline(__always)
    public var phase: Phase {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue & 0b111), to: Phase.self) }
        set { rawValue = rawValue & ~0b111 | UInt64(newValue.rawValue) }
    }

    @inlinable @inline(__always)
    public func contains(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }

    @inlinable @inline(__always)
    public func containsAny(_ flags: Flags) -> Bool { rawValue & flags.rawValue != 0 }

    @inlinable @inline(__always)
    public mutating func insert(_ flags: Flags) { rawValue |= flags.rawValue }

    @inlinable @inline(__always)
    public mutating func remove(_ flags: Flags) { rawValue &= ~flags.rawValue }

    @inlinable @inline(__always)
    public func inserting(_ flags: Flags) -> Lifecycle { Lifecycle(rawValue: rawValue | flags.rawValue) }

    @inlinable @inline(__always)
    public func removing(_ flags: Flags) -> Lifecycle { Lifecycle(rawValue: rawValue & ~flags.rawValue) }

    /// The priority that the program has set.
    @inlinable @inline(__always)
    public var priority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 26 & 0b111), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 26) | UInt64(newValue.rawValue) << 26 }
    }

    /// The priority by which the queue schedules the operation: the last value of `queuePriority`, overridden or not. With
    /// `inherits`, the higher of that value and `lentPriority`.
    @inlinable @inline(__always)
    public var effectivePriority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 29 & 0b111), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 29) | UInt64(newValue.rawValue) << 29 }
    }

    /// The quality of service as an index; 0 if never set.
    @inlinable @inline(__always)
    public var serviceIndex: UInt8 {
        get { UInt8(truncatingIfNeeded: rawValue >> 57 & 0b111) }
        set { rawValue = rawValue & ~(0b111 << 57) | UInt64(newValue & 0b111) << 57 }
    }

    /// The number of dependencies that hold the operation back; less than 2²⁵.
    @inlinable @inline(__always)
    public var unfinished: UInt32 {
        get { UInt32(truncatingIfNeeded: rawValue >> 32 & 0x01FF_FFFF) }
        set {
            precondition(newValue <= 0x01FF_FFFF, "an operation has more than 33 million unfinished dependencies")
            rawValue = rawValue & ~(0x01FF_FFFF << 32) | UInt64(newValue) << 32
        }
    }

    /// The highest priority that waiting operations and tasks have lent to this operation; `veryLow` if none has.
    @inlinable @inline(__always)
    public var lentPriority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 61), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 61) | UInt64(newValue.rawValue) << 61 }
    }
}

// MARK: - States for observers

extension Lifecycle {
    @inlinable @inline(__always) public var isCancelled: Bool { contains(.cancelled) }
    /// Whether gates do not hold the operation back: it was cancelled before its work began. Work that has begun and pauses needs
    /// its resources again before it continues, although the operation is cancelled.
    @inlinable @inline(__always) public var isExempt: Bool { isCancelled && !contains(.hasBegun) }
    @inlinable @inline(__always) public var isExecuting: Bool { phase == .executing }
    @inlinable @inline(__always) public var isFinished: Bool { phase.rawValue >= Phase.ended.rawValue }
    /// Whether a thread has claimed the end. Before that, the work may continue after `main()`.
    @inlinable @inline(__always) public var hasClaimedEnd: Bool { phase.rawValue >= Phase.finishing.rawValue }
    /// Whether the operation waits in a queue or is being added to one.
    @inlinable @inline(__always) public var isInQueue: Bool { phase == .entering || phase == .enqueued }
    @inlinable @inline(__always) public var isPinned: Bool { contains(.inInbox) || contains(.evaluating) }
    @inlinable @inline(__always)
    public var hasStarted: Bool { phase.rawValue >= Phase.starting.rawValue && !contains(.admitting) }
}
