import SchedulerCore
import Synchronization

/// The lending of service levels (rule A17). An operation that a thread, a task or another operation of a higher level waits for
/// gets that level, and lends it to the operations that it waits for itself. See `Lending`.
///
/// A waiting operation moves to threads of the lent level. The thread of a running operation is raised where the system permits,
/// until the operation has ended. Later parts of an async operation run on threads of the lent level. A lent level is never taken
/// back.
enum LevelLending {
    /// Whether an operation or a queue has had a quality of service of its own. Until then all threads have the same level.
    @inline(__always)
    static var isUsed: Bool { Lending.kinds.contains(.levels) }

    static func begin() { if !isUsed { Lending.begin(.levels) } }
}

/// The levels of an operation that do not follow from its own quality of service, in one byte.
struct OtherLevels {
    // Bits 0 to 3: the lent level plus 1. Bits 4 to 7: the level of the queue plus 1. 0: none.
    private(set) var rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The highest level that a waiter has lent.
    var lent: ServiceLevel? {
        get { ServiceLevel(rawValue: Int(rawValue & 15) - 1) }
        set { rawValue = rawValue & ~15 | Self.bits(newValue) }
    }

    /// The level of the queue, as of the addition or of the last change.
    var ofQueue: ServiceLevel? {
        get { ServiceLevel(rawValue: Int(rawValue >> 4) - 1) }
        set { rawValue = rawValue & 15 | Self.bits(newValue) << 4 }
    }

    private static func bits(_ level: ServiceLevel?) -> UInt8 { level.map { UInt8($0.rawValue) + 1 } ?? 0 }

    /// Returns the service of an operation with a quality of service.
    func service(for quality: QualityOfService) -> Schedule.Service {
        let own = quality == .default ? ofQueue ?? .normal : ServiceLevel(quality)
        if let lent, lent > own { return Schedule.Service(lent) }
        return quality == .default ? .ofQueue : Schedule.Service(own)
    }

    /// Returns the level of an operation of a service; nil if the operation is in no queue, and has none of its own.
    func level(of service: Schedule.Service) -> ServiceLevel? {
        guard service != .ofQueue else { return [lent, ofQueue].compactMap(\.self).max() }
        // As in `ServiceMap`: a queue without a quality of its own raises nothing.
        return max(ServiceLevel(service), ofQueue == .normal ? .background : ofQueue ?? .background)
    }
}

extension Operation {
    final var otherLevels: OtherLevels { OtherLevels(rawValue: levels.load(ordering: .sequentiallyConsistent)) }

    /// The level that the operation lends to operations that it waits for.
    final var lendsLevel: ServiceLevel {
        word.lifecycle.hasClaimedEnd ? .background : otherLevels.level(of: service) ?? .background
    }

    /// Raises the operation, and every operation that it waits for, to at least this level.
    final func lend(_ level: ServiceLevel) {
        guard takesLent(level) else { return }
        var pending = operationsWaitedFor
        while let next = pending.popLast() {
            if next.takesLent(level) { pending += next.operationsWaitedFor }
        }
    }

    /// Lends the operation's level to every operation that it waits for.
    final func lendLevelOn() {
        let level = lendsLevel
        guard level > .background else { return }
        for operation in operationsWaitedFor { operation.lend(level) }
    }

    /// False: the operation has that level already, or has ended.
    private final func takesLent(_ level: ServiceLevel) -> Bool {
        guard level > .background, !word.lifecycle.hasClaimedEnd else { return false }
        guard changeLevels({ $0.lent = max($0.lent ?? .background, level) }) else { return false }
        reconsiderService()
        // After the level is stored: a thread that begins to run the operation reads the level then.
        guard word.lifecycle.phase.rawValue >= Lifecycle.Phase.starting.rawValue else { return true }
        raiseTask(to: level)
        WorkerPool.raiseThreads(of: self, to: level)
        return true
    }

    /// Notes the level of the queue, and of the group or retry operation whose parts are in the queue. Called by the thread that adds
    /// the operation, and after a change of the queue's level.
    final func place(in queue: OperationQueue) {
        let owner = queue.owner?.lendsLevel ?? .background
        let isChanged = changeLevels {
            $0.ofQueue = queue.level
            if owner > max($0.lent ?? .background, queue.level) { $0.lent = owner }
        }
        if isChanged, otherLevels.lent != nil { reconsiderService() }
    }

    /// False: the change has no effect.
    private final func changeLevels(_ change: (inout OtherLevels) -> Void) -> Bool {
        var old = levels.load(ordering: .relaxed)
        while true {
            var new = OtherLevels(rawValue: old)
            change(&new)
            guard new.rawValue != old else { return false }
            let (done, seen) = levels.compareExchange(
                expected: old, desired: new.rawValue, ordering: .sequentiallyConsistent)
            if done { return true }
            old = seen
        }
    }

    /// The service by which the queue schedules the operation.
    @inline(__always)
    final var service: Schedule.Service {
        unsafeBitCast(serviceIndex.load(ordering: .relaxed), to: Schedule.Service.self)
    }

    /// Reads `qualityOfService`, overridden or not, for the queue. Called by the adding thread, and after a change.
    final func readService() {
        while true {
            let quality = asked {
                $0.serviceIndex
            } else: {
                qualityOfService.serviceIndex
            }
            let index = quality == 0 && levels.load(ordering: .relaxed) == 0 ? 0 : serviceIndex(for: quality)
            guard serviceIndex.load(ordering: .relaxed) != index else { return }
            // Read once more after the change: another thread may have changed a value, and stored its service before.
            serviceIndex.store(index, ordering: .sequentiallyConsistent)
        }
    }

    @inline(never)
    private final func serviceIndex(for quality: UInt8) -> UInt8 {
        if quality != 0 { LevelLending.begin() }
        return otherLevels.service(for: QualityOfService(serviceIndex: quality)).rawValue
    }
}

extension OperationQueue {
    /// Notes a changed level of the queue in its operations. O(n log n).
    func placeMembers() {
        for operation in listed() {
            operation.place(in: self)
            operation.lendLevelOn()
        }
    }
}

extension ThreadContext {
    /// The level of the code that this thread runs.
    var level: ServiceLevel {
        if let worker { return max(worker.level, caller?.otherLevels.lent ?? .background) }
        return .ofThread
    }
}

extension WorkerPool {
    /// Raises the threads that run the operation, as far as the system permits.
    static func raiseThreads(of operation: Operation, to level: ServiceLevel) {
        for pool in pools where pool.level < level {
            pool.state.withLock { state in
                for worker in state.busy.values { worker.raise(to: level, for: operation) }
            }
        }
    }
}

extension Worker {
    /// Raises this thread, which has begun to run the operation, to a level that was lent before.
    @inline(never)
    func takeLentLevel(of operation: Unmanaged<Operation>) {
        // The lender first stores the level, and then looks for the thread. This thread has stored the operation, and then looks
        // for the level. One of them sees the other.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        operation._withUnsafeGuaranteedRef { operation in
            guard let lent = operation.otherLevels.lent, lent > level else { return }
            pool.state.withLock { _ in raise(to: lent, for: operation) }
        }
    }
}
