import Synchronization

/// The lock-free entrance of a queue: a stack. Any thread pushes, and the thread that holds the queue's lock takes all.
///
/// The operations' own `next` links them. No single operation is popped, so there is no ABA problem. Only the thread that
/// set the operation's `inInbox` bit pushes it, so an operation is never in the inbox twice.
struct Inbox: ~Copyable, Sendable {
    /// The address of the newest operation. The low bits count the pushes since the inbox was empty.
    private let head = Atomic<UInt>(0)

    private static var counter: UInt { Allocation.alignment - 1 }

    /// Pushes a chain that is linked from `first` to `last`. If `last` is nil, the chain has one operation.
    ///
    /// Returns whether the count of pushes has reached a multiple of 16, on 32-bit systems of 8.
    ///
    /// Sequentially consistent, like the loads of `Signal`. The pusher first pushes, and then checks whether a worker has
    /// to be called. The worker first announces that it stops looking, and then looks a last time. One of them sees the
    /// other.
    @discardableResult
    func push(_ first: Operation, last: Operation?) -> Bool {
        let top = Unmanaged.passUnretained(first)
        let bottom = last.map { Unmanaged.passUnretained($0) } ?? top
        let new = UInt(bitPattern: top.toOpaque())
        var old = head.load(ordering: .relaxed)
        while true {
            bottom._withUnsafeGuaranteedRef { $0.next = Self.newest(old) }
            let count = (old &+ 1) & Self.counter
            Primitives.noteExchange()
            let (done, seen) = head.weakCompareExchange(
                expected: old, desired: new | count, successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if done { return count == 0 }
            old = seen
        }
    }

    var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == 0 }

    /// Removes all operations, and returns them in the order pushed, linked by `next`.
    func takeAll() -> Unmanaged<Operation>? {
        // Not relaxed: the load must not precede the step with which the caller asked pushers to call a worker.
        guard !isEmpty else { return nil }
        Primitives.noteExchange()
        var node = Self.newest(head.exchange(0, ordering: .acquiring))
        var ordered: Unmanaged<Operation>?
        while let current = node {
            node = current._withUnsafeGuaranteedRef { operation in
                let older = operation.next
                operation.next = ordered
                return older
            }
            ordered = current
        }
        return ordered
    }

    private static func newest(_ head: UInt) -> Unmanaged<Operation>? { .at(head & ~counter) }
}
