// Notifying dependents, a part of step 4. A dependent that has no unfinished dependency any more continues with step 2.

import CPlatform
import SchedulerCore

extension Operation {
    /// Notifies every dependent that this operation has finished.
    ///
    /// - Parameter held: A queue that exists until the call returns.
    final func notifyDependents(in held: Unmanaged<OperationQueue>? = nil) { notifyAll(dependents.close(), in: held) }

    /// Notifies the dependents of edges that a stack had, linked from the newest. The oldest dependent is notified first.
    final func notifyAll(_ newest: Edge?, in held: Unmanaged<OperationQueue>? = nil) {
        var oldest: Edge?
        var rest = newest
        while let edge = rest {
            // The edges and the dependents may have left the cache long ago. Each dependent is fetched while the next edge
            // is.
            edge.prefetchDependent()
            rest = edge.nextOfStack
            edge.nextOfStack = oldest
            oldest = edge
        }
        var ready = ReadyOperations(in: held)
        while let edge = oldest {
            oldest = edge.nextOfStack
            if let released = edge.dropFromStack() { Operation.notify(released, &ready) }
        }
        ready.push()
    }

    /// Notifies the dependent of an edge that is in no stack.
    @inline(never)
    final func notify(_ edge: Edge) {
        var ready = ReadyOperations(in: nil)
        if let released = edge.dropFromStack() { Operation.notify(released, &ready) }
        ready.push()
    }

    /// Decrements the count of a dependent. The dependent may be released at the same time. Its memory is valid until the
    /// count is decremented, and after that only a pin or a counted reference keeps it.
    @inline(__always)
    private static func notify(_ released: Edge.Released, _ ready: inout ReadyOperations) {
        guard released.isPlain else { return notifyThoroughly(released, &ready) }
        let release = word(of: released.dependent).pointee.decide {
            $0.heldByOneLessPlainly()
        } next: {
            $0.next
        }
        switch release {
        case .counted: break
        case .push: ready.add(released.dependent)
        case .declined: notifyThoroughly(released, &ready)
        }
    }

    @inline(never)
    private static func notifyThoroughly(_ released: Edge.Released, _ ready: inout ReadyOperations) {
        // User code follows, and a pin is short.
        ready.push()
        let dependent = retainedIfAlive(released.dependent)?.takeRetainedValue()
        let question = word(of: released.dependent).pointee.decide { lifecycle -> HeldQuestion in
            let next = lifecycle.heldByOneLess()
            // An override may look at single dependencies (rule A3).
            guard next.unfinished == 0 || !released.isPlain else { return .none(next) }
            switch next.reconsidered() {
            case .needless: return .none(next)
            case .delegated(let next): return .none(next)
            case .ask(let next): return .ask(next)
            }
        } next: {
            $0.next
        }
        guard let dependent else { return }
        // Observers are notified before the change takes effect.
        if question.next.unfinished == 0 { dependent.announceReadiness() }
        if case .ask = question {
            dependent.askWhetherReady()
        } else if question.next.phase == .idle {
            dependent.askThoughUnqueued()
        }
    }

    private enum HeldQuestion {
        case none(Lifecycle)
        case ask(Lifecycle)

        var next: Lifecycle {
            switch self {
            case .none(let next), .ask(let next): next
            }
        }
    }

    /// Returns a new reference, unless the last reference has gone. The memory has to be valid.
    private static func retainedIfAlive(_ operation: Unmanaged<Operation>) -> Unmanaged<Operation>? {
        cplatform_try_retain(operation.toOpaque()).map { Unmanaged.fromOpaque($0) }
    }

    /// Returns the word of an operation whose `deinit` may run, so that no reference may be made. `word` is the first stored
    /// property of the class that needs alignment.
    @inline(__always)
    static func word(of operation: Unmanaged<Operation>) -> UnsafePointer<Word> {
        UnsafeRawPointer(operation.toOpaque()).advanced(by: ScheduleMember.endOfFields).assumingMemoryBound(
            to: Word.self)
    }
}

/// Operations of one queue that have become ready, and are pinned until they are pushed. They are pushed together, because
/// all threads of a queue write to its inbox.
private struct ReadyOperations {
    private var newest: Unmanaged<Operation>?
    private var oldest: Unmanaged<Operation>?
    private var queue: Unmanaged<OperationQueue>?
    private var count = 0
    private let held: Unmanaged<OperationQueue>?

    /// A worker that needs a pinned operation waits until it is pushed.
    private static var limit: Int { 32 }

    /// - Parameter held: A queue that exists as long as this value. The runtime counts the references to most queues in a side
    ///   table, which takes as long as the rest of a notification.
    @inline(__always)
    init(in held: Unmanaged<OperationQueue>?) { self.held = held }

    @inline(__always)
    mutating func add(_ operation: Unmanaged<Operation>) {
        operation._withUnsafeGuaranteedRef { operation in
            let queue = operation.queue
            if count == Self.limit || queue?.toOpaque() != self.queue?.toOpaque() { push() }
            self.queue = queue
            operation.next = newest
        }
        if newest == nil { oldest = operation }
        newest = operation
        count += 1
    }

    /// Pushes the operations. They may be released from then on, so no reference is counted here.
    mutating func push() {
        guard let newest, let oldest, let queue else { return }
        // The pins keep the queue until the push, and this thread uses the queue after that.
        let isHeld = queue.toOpaque() == held?.toOpaque()
        if !isHeld { _ = queue.retain() }
        queue._withUnsafeGuaranteedRef { queue in
            newest._withUnsafeGuaranteedRef { first in
                if count == 1 { return queue.push(first, last: nil) }
                oldest._withUnsafeGuaranteedRef { queue.push(first, last: $0) }
            }
        }
        if !isHeld { queue.release() }
        self.newest = nil
        count = 0
    }
}

extension Lifecycle.PlainRelease {
    fileprivate var next: Lifecycle? {
        switch self {
        case .counted(let next), .push(let next): next
        case .declined: nil
        }
    }
}
