import SchedulerCore

/// The operations of a queue at one moment, with the reason for which each waits, or since when it executes.
public struct QueueExplanation: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// The groups and retries whose parts the operations are, outermost first; empty for a queue that the program has made.
    public let path: [String]
    /// The operations that execute. Those that were started first come first.
    public let executing: [Explanation]
    /// The operations that wait, in the order added.
    public let waiting: [Explanation]

    /// The most lines for operations in `description`. `executing` and `waiting` have all operations.
    public static let describedOperations = 20

    /// One line for the queue, and at most `describedOperations` lines for operations. If there are more operations, those that wait
    /// for the same reason share a line.
    public var description: String {
        let around = "queue \(queue.inQuotes)"
        let place = path.isEmpty ? around : "\(path.joined(separator: " → ")) in \(around)"
        let lines = (executing + waiting).lines(atMost: Self.describedOperations)
        return (["\(place): \(executing.count) execute, \(waiting.count) wait"] + lines).joined(separator: "\n  ")
    }
}

/// All queues of the process at one moment. See ``OperationQueue/explainAll()``.
public struct ProcessExplanation: Sendable, CustomStringConvertible {
    /// The queues that hold operations, in the order of their creation. The queues inside groups and retries are included.
    public let queues: [QueueExplanation]
    /// The number of queues without operations.
    public let idleQueueCount: Int
    /// The operation or queue that the main thread waits for; nil if it waits for none.
    public let mainThreadWaitsFor: String?

    /// The queues, the wait of the main thread, and the number of queues without operations.
    public var description: String {
        let idle = idleQueueCount == 1 ? "1 queue is empty" : "\(idleQueueCount) queues are empty"
        let main = mainThreadWaitsFor.map { ["the main thread waits for \($0)"] } ?? []
        return (queues.map(\.description) + main + [idle]).joined(separator: "\n")
    }
}

extension OperationQueue {
    /// Returns the state of each operation of the queue. O(operations and their dependencies).
    public final func explain() -> QueueExplanation {
        var (executing, waiting): ([Explanation], [Explanation]) = ([], [])
        // A barrier is no operation, but one that never ends holds back all others.
        let barriers = withState { $0.runningOperations }.filter { $0.word.lifecycle.contains(.barrier) }
        for explanation in StallSurvey(of: barriers + listed()).explanations() where explanation.reasons != [.finished]
        {
            if explanation.reasons.contains(.executing) {
                executing.append(explanation)
            } else {
                waiting.append(explanation)
            }
        }
        let (outermost, path) = outermost
        return QueueExplanation(
            queue: outermost === self && !path.isEmpty ? "" : outermost.readName() ?? "", path: path,
            executing: executing.sorted { $0.executionTime ?? .zero > $1.executionTime ?? .zero }, waiting: waiting)
    }

    /// Returns the state of each operation of all queues of the process: the reasons for which it waits, or since when it executes
    /// and which operation its code awaits.
    ///
    /// Any thread may call the method. It takes one lock at a time, so the result is not a state of one instant. O(operations and
    /// their dependencies) for each queue.
    public static func explainAll() -> ProcessExplanation {
        let (queues, count) = QueueRegistry.queues
        let busy = queues.map { $0.explain() }.filter { !$0.executing.isEmpty || !$0.waiting.isEmpty }
        return ProcessExplanation(
            queues: busy, idleQueueCount: count - busy.count,
            mainThreadWaitsFor: MainThread.isWaiting ? MainThread.subject?.text : nil)
    }
}
