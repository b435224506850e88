import SchedulerCore
import Synchronization

/// The dependents of one operation: a stack of edges, without a lock. Any thread pushes. A thread that needs the edges takes
/// all of them with one exchange, and owns them then.
///
/// The thread that finishes the operation closes the stack. A thread that cannot push notifies its dependent itself.
///
/// A dependent that is released, or removes the dependency, leaves its edge in the stack. For an operation that never
/// finishes, such edges must not accumulate. Each sixteenth push checks whether a sweep is due. A sweep is due when about as
/// many edges were pushed as the last sweep has left. So a sweep costs O(1) for each push.
struct DependentStack: ~Copyable, Sendable {
    /// The address of the newest edge. The low bits count pushes since the last check.
    private let head = Atomic<UInt>(0)

    private static var closed: UInt { 1 }
    private static var counter: UInt { Allocation.alignment - 1 }

    private static func edge(_ head: UInt) -> Edge? { Edge(address: head & ~counter) }

    enum Push {
        case pushed
        /// The edge is pushed. The caller checks whether a sweep is due: `DependentStack.sweep`.
        case pushedAndDue
        /// The edge is not pushed. The operation has finished.
        case closed
    }

    @inline(__always)
    func push(_ edge: Edge) -> Push {
        var old = head.load(ordering: .relaxed)
        while old != Self.closed {
            edge.nextOfStack = Self.edge(old)
            let count = (old &+ 1) & Self.counter
            Primitives.noteExchange()
            let (done, seen) = head.weakCompareExchange(
                expected: old, desired: edge.address | count, successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed)
            if done { return count == 0 ? .pushedAndDue : .pushed }
            old = seen
        }
        return .closed
    }

    /// Closes the stack, and passes its edges to the caller, linked from the newest.
    func close() -> Edge? {
        Primitives.noteExchange()
        return Self.edge(head.exchange(Self.closed, ordering: .acquiringAndReleasing))
    }

    /// Begins to fetch the newest edge, for an operation that ends soon.
    @inline(__always)
    func prefetch() { Self.edge(head.load(ordering: .relaxed))?.prefetch() }

    /// Takes the edges, linked from the newest. The stack stays open.
    private func takeAll() -> Edge? {
        var old = head.load(ordering: .relaxed)
        while old != Self.closed {
            Primitives.noteExchange()
            let (done, seen) = head.weakCompareExchange(
                expected: old, desired: 0, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if done { return Self.edge(old) }
            old = seen
        }
        return nil
    }

    /// Puts back edges that `takeAll` returned, under the edges that were pushed meanwhile. If the stack is closed now,
    /// returns the edges.
    private func putBack(_ edges: Edge) -> Edge? {
        var newest = edges
        while true {
            Primitives.noteExchange()
            let (done, seen) = head.weakCompareExchange(
                expected: 0, desired: newest.address, successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed)
            if done { return nil }
            if seen == Self.closed { return newest }
            guard let first = takeAll() else { continue }
            var last = first
            while let next = last.nextOfStack { last = next }
            last.nextOfStack = newest
            newest = first
        }
    }

    /// Removes edges that no list has any more, if a sweep is due. If the stack is closed meanwhile, returns edges whose
    /// dependents the caller has to notify, linked from the newest.
    @inline(never)
    func sweep() -> Edge? {
        guard let newest = takeAll() else { return nil }
        // The last check has left its credit in one of the first edges.
        var credited: Edge? = newest
        while let edge = credited, edge.credit == 0 { credited = edge.nextOfStack }
        if let credit = credited?.credit, credit > 1 {
            newest.credit = credit - 1
            return putBack(newest)
        }
        return Self.withoutUnlisted(newest).flatMap { putBack($0) }
    }

    /// Counts the edges by which dependents wait. If the stack is closed meanwhile, returns edges whose dependents the caller has
    /// to notify, linked from the newest. O(edges).
    @inline(never)
    func countWaiting() -> (count: Int, unsaved: Edge?) {
        guard let newest = takeAll() else { return (0, nil) }
        var (count, rest): (Int, Edge?) = (0, newest)
        while let edge = rest {
            if edge.holds { count += 1 }
            rest = edge.nextOfStack
        }
        return (count, putBack(newest))
    }

    /// Frees the edges that no list has, and returns the others, with credit for as many pushes.
    private static func withoutUnlisted(_ newest: Edge) -> Edge? {
        var (first, last): (Edge?, Edge?) = (nil, nil)
        var count: UInt32 = 0
        var rest: Edge? = newest
        while let edge = rest {
            rest = edge.nextOfStack
            guard edge.isListed else {
                _ = edge.dropFromStack()
                continue
            }
            if let last { last.nextOfStack = edge } else { first = edge }
            last = edge
            count += 1
        }
        last?.nextOfStack = nil
        first?.credit = max(2, count / UInt32(counter + 1))
        return first
    }

    /// Whether the stack has edges.
    @inline(__always)
    var isUsed: Bool { Self.edge(head.load(ordering: .acquiring)) != nil }

    /// Frees the edges of an operation that is being released. No list has them, because a list holds the dependency.
    @inline(never)
    func removeAll() {
        var rest = close()
        while let edge = rest {
            rest = edge.nextOfStack
            _ = edge.dropFromStack()
        }
    }

    /// The number of edges, for tests that use no other thread.
    var count: Int {
        var (count, rest) = (0, Self.edge(head.load(ordering: .acquiring)))
        while let edge = rest { (count, rest) = (count + 1, edge.nextOfStack) }
        return count
    }
}
