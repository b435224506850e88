import Synchronization

/// A queue's lock-free way in: a stack that any thread pushes onto and whoever holds the queue's lock takes whole.
///
/// The links are the operations' own `next`. Nothing is popped singly, so there is no ABA problem. What a push carries
/// is a claim on the operation's `inInbox` bit: only who set the bit pushes, so an operation is never in here twice.
struct Inbox: ~Copyable, Sendable {
    private let head = Atomic<UInt>(0)

    /// Pushes a chain that was linked from `first` to `last`; `last` nil means the one operation.
    ///
    /// Sequentially consistent, like the loads of `Signal`: the pusher first pushes and then looks whether a worker has
    /// to be called; the worker first says that it stops looking and then looks a last time. One of them sees the other.
    func push(_ first: Operation, last: Operation?) {
        let top = Unmanaged.passUnretained(first)
        let bottom = last.map { Unmanaged.passUnretained($0) } ?? top
        let new = UInt(bitPattern: top.toOpaque())
        var old = head.load(ordering: .relaxed)
        while true {
            bottom._withUnsafeGuaranteedRef { $0.next = Self.operation(old) }
            let (done, seen) = head.weakCompareExchange(
                expected: old, desired: new, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if done { return }
            old = seen
        }
    }

    var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == 0 }

    /// Takes everything and answers it in the order pushed, linked by `next`.
    func takeAll() -> Unmanaged<Operation>? {
        // Not relaxed: the load must not come before the caller's step that told pushers to call somebody.
        guard !isEmpty else { return nil }
        var node = Self.operation(head.exchange(0, ordering: .acquiring))
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

    private static func operation(_ bits: UInt) -> Unmanaged<Operation>? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged.fromOpaque($0) }
    }
}
