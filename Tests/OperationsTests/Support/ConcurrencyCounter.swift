import Operations
import Synchronization
import TestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Counts the simultaneous callers, and the threads in total.
final class ConcurrencyCounter: Sendable {
    private struct Counts {
        var inside = 0
        var most = 0
        var total = 0
        var threads = Set<String>()
    }

    private let counts = Guarded(Counts())

    func enter() {
        let thread = "\(pthread_self())"
        counts.withLock {
            $0.inside += 1
            $0.total += 1
            $0.most = max($0.most, $0.inside)
            $0.threads.insert(thread)
        }
    }

    func leave() { counts.withLock { $0.inside -= 1 } }

    /// Adds operations to the queue that wait for each other in groups of `width`, and waits for their end. Fewer than `width`
    /// operations at a time would wait forever, and more are counted.
    func fill(_ queue: OperationQueue, width: Int, groups: Int) {
        for _ in 0..<groups {
            let meeting = Gate(width)
            for _ in 0..<width {
                queue.addOperation {
                    self.enter()
                    meeting.meet()
                    self.leave()
                }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    var inside: Int { counts.withLock { $0.inside } }
    var most: Int { counts.withLock { $0.most } }
    var total: Int { counts.withLock { $0.total } }
    var threads: Int { counts.withLock { $0.threads.count } }
}

/// A number that any thread may add to.
final class Atomic64: Sendable {
    private let number = Atomic(0)

    func add(_ more: Int) { number.add(more, ordering: .sequentiallyConsistent) }

    var value: Int { number.load(ordering: .sequentiallyConsistent) }
}
