@_spi(Hosting) import KeyValueObserving
import SchedulerCore

/// The properties of an operation that are announced when they change, as a set.
struct ObservedProperty: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let isCancelled = Self(rawValue: 1)
    static let isAsynchronous = Self(rawValue: 2)
    static let isExecuting = Self(rawValue: 4)
    static let isFinished = Self(rawValue: 8)
    static let isReady = Self(rawValue: 16)
    static let dependencies = Self(rawValue: 32)
    static let queuePriority = Self(rawValue: 64)
    static let completionBlock = Self(rawValue: 128)
    static let name = Self(rawValue: 256)
    static let qualityOfService = Self(rawValue: 512)

    private static let names: [(Self, String)] = [
        (.isCancelled, "isCancelled"), (.isAsynchronous, "isAsynchronous"), (.isExecuting, "isExecuting"),
        (.isFinished, "isFinished"), (.isReady, "isReady"), (.dependencies, "dependencies"),
        (.queuePriority, "queuePriority"), (.completionBlock, "completionBlock"), (.name, "name"),
        (.qualityOfService, "qualityOfService"),
    ]

    static var all: [Self] { names.map(\.0) }

    /// The keys of the properties in `KeyValueObserving`.
    var keys: [PropertyKey] {
        self == .isFinished ? Self.finishedKeys : Self.names.filter { contains($0.0) }.map { .name($0.1) }
    }

    /// The keys of the property that is observed most.
    private static let finishedKeys = [PropertyKey.name("isFinished")]

    /// Creates the property of a key; nil for a property of a subclass.
    init?(_ key: PropertyKey) {
        guard case .name(let name) = key else { return nil }
        self.init(name: name)
    }

    /// Creates the property of a string key in either spelling, `"isFinished"` or `"finished"`; nil for a property of a
    /// subclass.
    init?(name: String) {
        switch name {
        case "isCancelled", "cancelled": self = .isCancelled
        case "isAsynchronous", "asynchronous", "isConcurrent", "concurrent": self = .isAsynchronous
        case "isExecuting", "executing": self = .isExecuting
        case "isFinished", "finished": self = .isFinished
        case "isReady", "ready": self = .isReady
        case "dependencies": self = .dependencies
        case "queuePriority": self = .queuePriority
        case "completionBlock": self = .completionBlock
        case "name": self = .name
        case "qualityOfService": self = .qualityOfService
        default: return nil
        }
    }

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Returns the properties that an unknown key path of this type may mean. In a `final` class, and for a `final
    /// override`, a key path means the override alone. An extra read does no harm.
    static func candidates(_ type: any Any.Type) -> Self {
        if type == Bool.self { return [.isFinished, .isReady, .isCancelled] }
        return type == Operation.QueuePriority.self ? [.queuePriority] : []
    }
}

/// The observed properties of an operation. Also the properties whose observers need more than the fact of a change: a
/// call before the change, or the old value. A property that others depend on counts as such.
struct Interest {
    let bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    /// The interest of one observation. A function, because an initializer counts a reference to its argument.
    static func of(_ observation: Observation) -> Interest {
        var observed = ObservedProperty(rawValue: observation.tag)
        var before = ObservedProperty()
        if observation.tag == 0 || observation.dependsOnOthers {
            observed = ObservedProperty.all.filter { observation.concerns($0.keys[0]) }.reduce([]) { $0.union($1) }
            before = observed
        } else if !observation.options.isDisjoint(with: [.old, .prior, .initial]) {
            before = observed
        }
        return Interest(bits: UInt32(observed.rawValue) | UInt32(before.rawValue) << 16)
    }

    var observed: ObservedProperty { ObservedProperty(rawValue: UInt16(truncatingIfNeeded: bits)) }
    var before: ObservedProperty { ObservedProperty(rawValue: UInt16(truncatingIfNeeded: bits >> 16)) }
}

// Announcing: notifying observers that a property changes.
extension Operation {
    /// The observed properties at this moment.
    @inline(__always)
    final var interest: Interest { attachmentsReference.withLoaded { $0.currentInterest } ?? Interest(bits: 0) }

    /// Changes states and notifies observers. nil: another thread was first. Costs two loads without observers.
    @inline(__always)
    final func announcing<Result>(_ properties: ObservedProperty, _ change: () -> Result?) -> Result? {
        guard !word.lifecycle.contains(.observed) else { return announcingToObservers(properties, change) }
        let result = change()
        // A thread that began to observe in the meantime set the bit before it read a state. So either it has read the
        // new states, or the bit is seen here and the thread is notified.
        if result != nil, word.lifecycle.contains(.observed) { announceLate(properties, since: nil) }
        return result
    }

    /// Notifies the observers of states that have flipped already.
    ///
    /// - Parameter counts: The counts, read before the states. The caller notifies of the flips that no thread has
    ///   announced since. nil: the system made the change, and notifies in any case.
    @inline(never)
    final func announceLate(_ properties: ObservedProperty, since counts: NotifiedFlips.Counts?) {
        HeldLocks.assertNone()
        attachmentsReference.withLoaded { attachments in
            let properties = counts.map { attachments.notifiedFlips.claim(properties, since: $0) } ?? properties
            if counts == nil { attachments.notifiedFlips.note(properties) }
            let isLast = properties == .isFinished && isPlainBlock
            if isLast, attachments.notifySoleObserver(ofTag: properties.rawValue, of: self) { return }
            for key in properties.keys { attachments.flipped(key, isLast: isLast, of: self) }
        }
    }

    @inline(never)
    private final func announcingToObservers<Result>(
        _ properties: ObservedProperty, _ change: () -> Result?
    ) -> Result? {
        announcingFlips(properties, change)
    }

    /// Changes states and notifies observers, of which there are some.
    @inline(__always)
    final func announcingFlips<Result>(_ properties: ObservedProperty, _ change: () -> Result?) -> Result? {
        HeldLocks.assertNone()
        guard interest.before.isDisjoint(with: properties) else { return announcingWithValues(properties, change) }
        guard let result = change() else { return nil }
        // Read again, for observers that were added in the meantime.
        let observed = properties.intersection(interest.observed)
        if !observed.isEmpty { announceLate(observed, since: nil) }
        return result
    }

    /// Changes states and notifies observers, some of which take values or a call before the change.
    @inline(never)
    private final func announcingWithValues<Result>(
        _ properties: ObservedProperty, _ change: () -> Result?
    ) -> Result? {
        let observers = ownAttachments
        let announcement = observers.willChange(properties.keys, of: self)
        guard let result = change() else {
            observers.didNotChange(announcement, of: self)
            return nil
        }
        // Not claimed, because an announcement by hand since then may have read the state before the change.
        observers.notifiedFlips.note(properties)
        observers.didChange(announcement, of: self, isFlip: true)
        return result
    }

    /// Exchanges the value of a stored property, and notifies observers.
    ///
    /// The value is exchanged and the change is recorded under one lock. So when several threads set the property, the
    /// notifications have the order of the changes. Each has the value that was replaced. nil: nothing has changed.
    ///
    /// - Parameter first: Work that follows from the change and precedes the notifications.
    @inline(__always)
    final func exchange<Value>(
        _ property: ObservedProperty, first: () -> Void = {},
        _ exchange: (inout Attachments.State) -> (old: Value, new: Value)?
    ) {
        let attachments = ownAttachments
        let isObserved = word.lifecycle.contains(.observed)
        var announcement = isObserved ? attachments.willChange(property.keys, of: self) : Announcement()
        var mustNotify = false
        // Released without the lock.
        let values = attachments.withLock { state in
            let values = exchange(&state)
            if let values, state.observers.wasUsed {
                mustNotify = state.observers.noteExchange(
                    &announcement, Change(property.keys[0], old: values.old, new: values.new))
            }
            return values
        }
        guard values != nil else { return attachments.didNotChange(announcement, of: self) }
        first()
        if mustNotify || !announcement.isEmpty {
            attachments.didExchange(announcement, property.keys[0], mustNotify: mustNotify, of: self)
        }
        withExtendedLifetime(values) {}
        announcedDependents(of: property)
    }

    /// Exchanges a value that is part of the word, and notifies observers. Creates no attachments without observers.
    final func exchangeInWord<Value>(
        _ property: ObservedProperty, _ new: Value, read: (Lifecycle) -> Value, _ set: (inout Lifecycle) -> Void
    ) {
        if word.lifecycle.contains(.observed) {
            // The exchange is atomic in any case. The lock gives the notifications the order of the changes.
            return exchange(property) { _ in (read(word.change(set)), new) }
        }
        let old = read(word.change(set))
        guard word.lifecycle.contains(.observed) else { return announcedDependents(of: property) }
        let attachments = ownAttachments
        var (announcement, mustNotify) = (Announcement(), false)
        attachments.withLock { state in
            // The present value, because other threads may have changed and announced it since.
            let change = Change(property.keys[0], old: old, new: read(word.lifecycle))
            mustNotify = state.observers.noteExchange(&announcement, change)
        }
        attachments.didExchange(announcement, property.keys[0], mustNotify: mustNotify, of: self)
        announcedDependents(of: property)
    }

    /// Notifies the observers of `isReady`, once for each call, whether the value has changed or not (rule A2).
    ///
    /// The values that `isReady` depends on may change in several threads, in both directions. One thread at a time reads
    /// `isReady` and notifies, also for the other threads. So the value in the last notification is the present one, and
    /// each value is the old value of the next notification.
    ///
    /// - Parameter onlyChanges: No property was announced, but the value may have changed.
    final func announceReadiness(onlyChanges: Bool = false) {
        guard word.lifecycle.contains(.observed) else { return }
        let attachments = ownAttachments
        guard attachments.withLock({ $0.readinessNotifier.begin(onlyChanges: onlyChanges) }) else { return }
        HeldLocks.assertNone()
        repeat {
            let isReady = untracked { self.isReady }
            if let old = attachments.withLock({ $0.readinessNotifier.take(isReady) }) {
                attachments.changed(.name("isReady"), old: old, new: isReady, of: self)
            }
        } while attachments.withLock { $0.readinessNotifier.continues() }
    }

    /// Records the value of `isReady` as the old value of the next announcement, without notifying.
    final func noteReadiness() {
        let attachments = ownAttachments
        while true {
            let count = attachments.withLock { $0.readinessNotifier.noted }
            let isReady = untracked { self.isReady }
            // A value that another thread has recorded since may be newer.
            if attachments.withLock({ $0.readinessNotifier.note(isReady, since: count) }) { return }
        }
    }
}

/// The pending announcements of `isReady`, and the value in the last notification.
///
/// Six bytes, because each operation with attachments has it.
struct ReadinessNotifier {
    private var announcements: UInt16 = 0
    /// A number that changes with each recorded value.
    private(set) var noted: UInt8 = 0
    private var isNotifying = false
    private var mustRead = false
    /// The value in the last notification.
    private var notified: Bool?

    /// Begins an announcement. True: the caller reads and notifies, as long as `continues` returns true.
    mutating func begin(onlyChanges: Bool) -> Bool {
        // More announcements than a counter can count need no notifications of their own.
        if onlyChanges { mustRead = true } else if announcements < .max { announcements += 1 }
        defer { isNotifying = true }
        return !isNotifying
    }

    /// Takes one announcement, to notify with this value. Returns the old value; nil: there is nothing to notify.
    mutating func take(_ isReady: Bool) -> Bool? {
        let (isAnnounced, old) = (announcements > 0, notified)
        if isAnnounced { announcements -= 1 }
        mustRead = false
        note(isReady)
        return isAnnounced || old != isReady ? old ?? isReady : nil
    }

    mutating func note(_ isReady: Bool) {
        notified = isReady
        noted &+= 1
    }

    /// Records a value that was read when `noted` had a value. False: another value was recorded since.
    mutating func note(_ isReady: Bool, since count: UInt8) -> Bool {
        guard noted == count else { return false }
        note(isReady)
        return true
    }

    mutating func continues() -> Bool {
        isNotifying = announcements > 0 || mustRead
        return isNotifying
    }
}
