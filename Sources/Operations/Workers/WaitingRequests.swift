import SchedulerCore

/// The requests that wait for a worker, in the order made.
///
/// Those of eager sources stand apart from all others: whether one may be granted is the same for all of its kind, so the
/// oldest that may is the first of one of two.
struct WaitingRequests {
    private typealias Place = (request: WorkerPool.Request, number: UInt64)

    private var eager = Ring<Place>()
    private var shared = Ring<Place>()
    private var lastNumber: UInt64 = 0

    var count: Int { eager.count + shared.count }

    mutating func append(_ request: WorkerPool.Request) {
        lastNumber += 1
        if request.isEager { eager.append((request, lastNumber)) } else { shared.append((request, lastNumber)) }
    }

    /// Removes the oldest of those kinds that may be granted. O(1).
    mutating func removeFirst(eager mayBeEager: Bool, shared mayBeShared: Bool) -> WorkerPool.Request? {
        let eagerNumber = mayBeEager ? eager.first?.number : nil
        let sharedNumber = mayBeShared ? shared.first?.number : nil
        return (eagerNumber ?? .max) < (sharedNumber ?? .max)
            ? eager.popFirst()?.request : sharedNumber == nil ? nil : shared.popFirst()?.request
    }
}
