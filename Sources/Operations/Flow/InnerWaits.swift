#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform
import Dispatch
import OperationsPrimitives
import SchedulerCore
import Synchronization

// The waits of code that runs as part of an operation (rule A16). Explanations, stall reports and the inheritance of priorities
// follow them like dependencies.

/// The operations and queues that the code of one operation waits for at this moment. Guarded by the lock of the attachments.
struct InnerWaits {
    enum Subject {
        case operation(Operation)
        /// All operations of the queue.
        case queue(OperationQueue)

        var key: UInt {
            switch self {
            case .operation(let operation): operation.scheduleID
            case .queue(let queue): UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
            }
        }

        /// The subject in explanations.
        var text: String {
            switch self {
            case .operation(let operation): operation.label
            case .queue(let queue): "all operations of queue \((queue.readName() ?? "").inQuotes)"
            }
        }
    }

    struct Wait {
        let subject: Subject
        /// The number of these waits, by several threads or child tasks of the operation.
        var count = 1
        /// The time at which the last of them began.
        var since: UInt64
    }

    private var waits = KeyedList<Wait>()
    /// The number of threads that run blocks of the operation; 1 unless it has several blocks. The child tasks of an async
    /// operation are not known.
    var blocks = 1
    /// The number of sleeps of the code. They end by themselves, and may end the other waits, as time limits do.
    var sleeps = 0

    mutating func begin(_ subject: Subject, at now: UInt64) {
        let count = waits.remove(subject.key)?.count ?? 0
        _ = waits.add(Wait(subject: subject, count: count + 1, since: now), key: subject.key)
    }

    mutating func end(_ subject: Subject) {
        guard var wait = waits.remove(subject.key), wait.count > 1 else { return }
        wait.count -= 1
        _ = waits.add(wait, key: subject.key)
    }

    var all: [Wait] { waits.elements }

    /// The waits, if all known code of the operation waits. Otherwise an empty array.
    var ofAllCode: [Wait] {
        sleeps > 0 || waits.elements.reduce(0) { $0 + $1.count } < blocks ? [] : waits.elements
    }
}

extension Operation {
    /// The waits of the code of the operation. See `InnerWaits.ofAllCode`.
    final var waitsOfAllCode: [InnerWaits.Wait] { attachments?.withLock { $0.extras?.innerWaits.ofAllCode } ?? [] }

    /// The waits of the code of a group or retry operation, besides waits for its parts.
    private final var waitsBesideParts: [InnerWaits.Wait] {
        let inner = (self as? AsyncOperation)?.innerQueue.map { Unmanaged.passUnretained($0).toOpaque() }
        return waitsOfAllCode.filter { wait in
            guard case .operation(let operation) = wait.subject else { return true }
            return operation.queue?.toOpaque() != inner
        }
    }

    /// Whether the operation is a group or retry operation whose code waits for nothing but its parts.
    final var waitsForPartsOnly: Bool { (self as? AsyncOperation)?.innerQueue != nil && waitsBesideParts.isEmpty }

    /// Whether the operation is a group whose own code waits before it starts the children.
    final var holdsPartsBack: Bool {
        guard let group = self as? AsyncOperation, !group.isHeld, let inner = group.innerQueue else { return false }
        return inner.isSuspended && !waitsBesideParts.isEmpty
    }

    /// The operations that the code of this operation waits for.
    final var operationsAwaitedInside: [Operation] {
        let waits = attachments?.withLock { $0.extras?.innerWaits.all } ?? []
        return waits.compactMap { if case .operation(let operation) = $0.subject { operation } else { nil } }
    }

    final func beginsWait(for subject: InnerWaits.Subject) {
        let now = MonotonicClock.now
        ownAttachments.withExtras { $0.innerWaits.begin(subject, at: now) }
    }

    final func endsWait(for subject: InnerWaits.Subject) {
        // The caller holds the subject, so it is not released under the lock.
        attachments?.withLock { $0.extras?.innerWaits.end(subject) }
    }

    final func changeSleeps(by number: Int) { ownAttachments.withExtras { $0.innerWaits.sleeps += number } }

    /// Changes the number of threads that run blocks of the operation.
    final func changeBlocks(by number: Int) { ownAttachments.withExtras { $0.innerWaits.blocks += number } }
}

extension ThreadContext {
    /// Notes the wait for all operations that this thread runs, while `body` blocks the thread.
    ///
    /// - Parameter isLimited: Whether a time ends the wait, so that it is no part of a stall.
    func noteWait(for subject: InnerWaits.Subject, isLimited: Bool, while body: () -> Void) {
        let callers = callers
        let test = callers.isEmpty && !isLimited ? ConditionTest.ofCurrentTask : nil
        test?.begins(subject)
        for caller in callers {
            caller.operation._withUnsafeGuaranteedRef {
                if isLimited { $0.changeSleeps(by: 1) }
                $0.beginsWait(for: subject)
            }
            caller.queue?._withUnsafeGuaranteedRef { $0.watchWaits() }
        }
        let isMain = !isLimited && MainThread.isCurrent
        if isMain { MainThread.begins(subject) }
        body()
        if isMain { MainThread.ends() }
        test?.ends()
        for caller in callers {
            caller.operation._withUnsafeGuaranteedRef {
                $0.endsWait(for: subject)
                if isLimited { $0.changeSleeps(by: -1) }
            }
        }
    }

    /// The operations that the calling code is part of, on this thread, outermost first. They live as long as the code runs.
    private var callers: [Frame] {
        guard innermost != nil else { return [] }
        return ((workerFrame.map { [$0] } ?? []) + frames).filter { $0.includesCurrentTask }
    }

    /// Notes the wait for the operation that the current task is part of, or whose conditions it tests, while `body` suspends the task.
    nonisolated(nonsending)
        static func noteSuspension<Failure: Error>(
            for subject: InnerWaits.Subject, while body: nonisolated(nonsending) () async throws(Failure) -> Void
        ) async throws(Failure)
    {
        guard let (operation, queue) = ofCurrentTask else {
            let test = ConditionTest.ofCurrentTask
            test?.begins(subject)
            defer { test?.ends() }
            return try await body()
        }
        operation.beginsWait(for: subject)
        queue?.watchWaits()
        defer { operation.endsWait(for: subject) }
        try await body()
    }
}

extension ThreadContext {
    /// Notes the sleep for the operation that the current task is part of, while `body` suspends the task.
    static func noteSleep(while body: () async throws -> Void) async throws {
        guard let operation = ofCurrentTask?.operation else { return try await body() }
        operation.changeSleeps(by: 1)
        defer { operation.changeSleeps(by: -1) }
        try await body()
    }
}

/// The waits of the main thread. While it waits, the main queue starts no operation.
enum MainThread {
    /// The innermost last. Changed by the main thread only.
    private static let waits = Locked<[InnerWaits.Subject]>([])
    /// Separate from `waits`, because queues read it under their lock. Sequentially consistent: see `watchWaits()`.
    private static let number = Atomic<Int>(0)
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling thread is the main thread, or serves the main dispatch queue in its place: in a program whose `main` is
    /// async, the first thread of the process does nothing.
    static var isCurrent: Bool {
        if DispatchQueue.getSpecific(key: key) == true { return true }
        #if canImport(Darwin)
        return pthread_main_np() != 0
        #else
        return cplatform_thread_id() == getpid()
        #endif
    }

    /// Whether the queue is the main dispatch queue. On Linux, each access to `DispatchQueue.main` returns another object.
    static func isMain(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: key) == true }

    static var isWaiting: Bool { number.load(ordering: .sequentiallyConsistent) > 0 }

    /// The subject of the innermost wait; nil while the thread does not wait.
    static var subject: InnerWaits.Subject? { waits.withLock { $0.last } }

    static func begins(_ subject: InnerWaits.Subject) {
        waits.withLock { $0.append(subject) }
        number.add(1, ordering: .sequentiallyConsistent)
        OperationQueue.main.watchWaits()
    }

    /// The caller holds the subject.
    static func ends() {
        number.subtract(1, ordering: .sequentiallyConsistent)
        waits.withLock { _ = $0.popLast() }
    }
}
