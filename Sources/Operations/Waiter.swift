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
    /// The position in the list.
    @exclusivity(unchecked) var position = 0

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>? = nil) { self.continuation = continuation }
}

extension [Waiter] {
    mutating func add(_ waiter: Waiter) {
        if case .task(let wait) = waiter { wait.position = count }
        append(waiter)
    }

    /// Removes a wait that is in the list. The last waiter takes its place. O(1).
    mutating func remove(_ wait: TaskWait) {
        let last = removeLast()
        guard wait.position < count else { return }
        self[wait.position] = last
        if case .task(let moved) = last { moved.position = wait.position }
    }
}
