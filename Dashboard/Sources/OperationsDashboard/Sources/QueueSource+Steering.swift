import DashboardCore
import Operations

extension QueueSource {
    /// Carries out a command.
    func steer(_ queue: OperationQueue, _ command: Command) -> Result<JSON, HTTPStatus> {
        switch command {
        case .suspend: queue.isSuspended = true
        case .resume: queue.isSuspended = false
        case .limit(_, let limit):
            // -1 is the default limit of the queue.
            do { try queue.trySetMaxConcurrentOperationCount(limit ?? -1) } catch { return .failure(.badRequest) }
        case .cancel(let numbers): return each(numbers, in: queue) { $0.cancel() }
        case .priority(let numbers, let rank):
            return each(numbers, in: queue) { $0.queuePriority = Operation.QueuePriority(rank: rank) }
        case .retry, .discard, .move: return .failure(.badRequest)
        }
        return .success(.members(["changed": .number(1)]))
    }

    private func each(
        _ numbers: [Int64], in queue: OperationQueue, _ change: (Operation) -> Void
    ) -> Result<JSON, HTTPStatus> {
        let operations = numbers.compactMap { find($0, in: queue) }
        operations.forEach(change)
        return .success(.members(["changed": .number(operations.count)]))
    }
}

extension Operation.QueuePriority {
    private static let all: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]

    /// The place of the priority around the normal one: from -2 to 2.
    var rank: Int { (Self.all.firstIndex(of: self) ?? 2) - 2 }

    init(rank: Int) { self = Self.all[min(max(rank + 2, 0), 4)] }
}
