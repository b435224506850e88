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
            // The edges and the dependents may have left the cache long ago. The word of each dependent is fetched while the
            // next edge is. More lines of all dependents would be more than a core fetches at once.
            edge.prefetchDependent()
            rest = edge.nextOfStack
            edge.nextOfStack = oldest
            oldest = edge
        }
        var ready = PinnedOperations(in: held)
        while let edge = oldest {
            oldest = edge.nextOfStack
            if let released = edge.dropFromStack() { Operation.notify(released, &ready) }
        }
        ready.push()
    }

    /// Notifies the dependent of an edge that is in no stack.
    @inline(never)
    final func notify(_ edge: Edge) {
        // A push that has failed may have set the link.
        edge.nextOfStack = nil
        notifyAll(edge)
    }

    /// Decrements the count of a dependent. The dependent may be released at the same time. Its memory is valid until the
    /// count is decremented, and after that only a pin or a counted reference keeps it.
    @inline(__always)
    private static func notify(_ released: Edge.Released, _ ready: inout PinnedOperations) {
        guard released.isPlain else { return notifyThoroughly(released, &ready) }
        let change = word(of: released.dependent).pointee.decide { lifecycle -> Lifecycle.Change in
            let change = lifecycle.heldByOneLessPlainly()
            if case .push = change, !ready.admits(released.dependent) { return .needless }
            return change
        }
        switch change {
        case .noted: break
        case .push:
            released.dependent._withUnsafeGuaranteedRef { dependent in
                // It starts soon, and reads its fields and its first edge.
                cplatform_prefetch_line(released.dependent.toOpaque())
                dependent.dependents.prefetch()
            }
            ready.add(released.dependent)
        case .needless: notifyThoroughly(released, &ready)
        }
    }

    @inline(never)
    private static func notifyThoroughly(_ released: Edge.Released, _ ready: inout PinnedOperations) {
        // User code follows, and a pin is short.
        ready.push()
        let dependent = retainedIfAlive(released.dependent)?.takeRetainedValue()
        // An override may look at single dependencies (rule A3).
        let question = word(of: released.dependent).pointee.decide { $0.released(asksAlways: !released.isPlain) }
        guard let dependent, let next = question.next else { return }
        // Observers are notified before the change takes effect.
        if next.unfinished == 0 { dependent.announceReadiness() }
        if case .ask = question {
            dependent.askWhetherReady()
        } else if next.phase == .idle {
            dependent.askThoughUnqueued()
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
        assert(isWordInPlace)
        return addressOfWord(of: operation)
    }

    /// Begins to fetch the word. The memory need not be valid.
    @inline(__always)
    static func prefetchWord(of operation: Unmanaged<Operation>) {
        cplatform_prefetch_line(UnsafeRawPointer(addressOfWord(of: operation)))
    }

    @inline(__always)
    private static func addressOfWord(of operation: Unmanaged<Operation>) -> UnsafePointer<Word> {
        UnsafeRawPointer(operation.toOpaque()).advanced(by: ScheduleMember.endOfFields).assumingMemoryBound(
            to: Word.self)
    }

    /// Whether `addressOfWord` finds the word. The compiler gives no offset of a stored property of a class. At another address, a
    /// notification would write into other fields.
    static let isWordInPlace: Bool = {
        let operation = Operation()
        return withUnsafePointer(to: operation.word) { $0 == addressOfWord(of: .passUnretained(operation)) }
    }()
}
