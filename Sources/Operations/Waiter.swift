/// A waiter for an operation or a queue: a sleeping thread or a suspended task.
enum Waiter: Sendable {
    case thread(Parker)
    case task(TaskWait)

    var isTask: Bool { if case .task = self { true } else { false } }

    func wake() {
        switch self {
        case .thread(let parker): parker.unpark()
        case .task(let wait): wait.continuation.take()?.resume()
        }
    }
}

/// The wait of a task. A cancellation of the task may end the wait for an operation early.
@usableFromInline
final class TaskWait: @unchecked Sendable {
    // Sendable: the lock of the operation's attachments guards both properties while the wait is in their list, and after that
    // they belong to the thread that has removed it.
    @exclusivity(unchecked) var continuation: UnsafeContinuation<Void, Never>?
    /// The position in the list; -1 if the wait is in none.
    @exclusivity(unchecked) var position = -1

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>? = nil) { self.continuation = continuation }
}

extension [Waiter] {
    mutating func add(_ waiter: Waiter) {
        if case .task(let wait) = waiter { wait.position = count }
        append(waiter)
    }

    /// Removes a wait, if it is in the list, and returns its continuation. The last waiter takes its place. O(1).
    mutating func withdraw(_ wait: TaskWait) -> UnsafeContinuation<Void, Never>? {
        guard wait.position >= 0, let continuation = wait.continuation.take() else { return nil }
        takeOut(wait.position)
        wait.position = -1
        return continuation
    }

    /// Removes the waiter of a thread. False: another thread has taken it. O(n).
    mutating func remove(_ parker: Parker) -> Bool {
        let position = firstIndex { if case .thread(let other) = $0 { other === parker } else { false } }
        if let position { takeOut(position) }
        return position != nil
    }

    /// The last waiter takes the place of the one at the position.
    private mutating func takeOut(_ position: Int) {
        let last = removeLast()
        guard position < count else { return }
        self[position] = last
        if case .task(let moved) = last { moved.position = position }
    }

    /// Removes all waiters, whose threads and tasks the caller wakes.
    mutating func takeAll() -> [Waiter] {
        let all = self
        self = []
        for case .task(let wait) in all { wait.position = -1 }
        return all
    }
}
