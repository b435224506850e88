import SchedulerCore

/// The requests that wait for a worker, in the order made.
///
/// Requests of different urgencies are in separate lines. All requests of an urgency may be granted, or none. So the
/// oldest request that may be granted is the first of one of three lines.
struct WaitingRequests {
    private typealias Line = Ring<(request: WorkerPool.Request, number: UInt64)>

    private var shared = Line()
    private var eager = Line()
    private var prompt = Line()
    private var lastNumber: UInt64 = 0

    var count: Int { shared.count + eager.count + prompt.count }
    var promptCount: Int { prompt.count }

    mutating func append(_ request: WorkerPool.Request) {
        lastNumber += 1
        switch request.urgency {
        case .shared: shared.append((request, lastNumber))
        case .eager: eager.append((request, lastNumber))
        case .prompt: prompt.append((request, lastNumber))
        }
    }

    /// Removes the oldest request of the urgencies that may be granted. O(1).
    mutating func removeFirst(
        shared mayBeShared: Bool, eager mayBeEager: Bool, prompt mayBePrompt: Bool
    ) -> WorkerPool.Request? {
        let sharedNumber = mayBeShared ? shared.first?.number ?? .max : .max
        let eagerNumber = mayBeEager ? eager.first?.number ?? .max : .max
        let promptNumber = mayBePrompt ? prompt.first?.number ?? .max : .max
        switch min(sharedNumber, eagerNumber, promptNumber) {
        case .max: return nil
        case sharedNumber: return shared.popFirst()?.request
        case eagerNumber: return eager.popFirst()?.request
        default: return prompt.popFirst()?.request
        }
    }
}
