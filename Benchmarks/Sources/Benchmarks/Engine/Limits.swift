import BenchmarkReport
import Glibc
import Synchronization

/// What the machine takes for the steps of which every scheduler is made. No queue can be faster than the sum of those that
/// it cannot avoid.
enum Limits {
    static var text: String {
        let limits: [(step: String, measure: () -> Double)] = [
            ("an atomic addition, by one thread alone", addition),
            ("a cache line from core to core and back", thereAndBack),
            ("96 bytes allocated and freed by one thread", { allocation(freedElsewhere: false) }),
            ("96 bytes allocated by one thread, freed by another", { allocation(freedElsewhere: true) }),
            ("a word from memory, at an address not known before", read),
            ("waking a thread that sleeps, until it runs", wake),
        ]
        let width = limits.map(\.step.count).max() ?? 0
        return limits.map { "\($0.step.padded(to: width))  \(median($0.measure).brief) ns" }.joined(separator: "\n")
    }

    private static func median(_ measure: () -> Double) -> Double { (0..<7).map { _ in measure() }.sorted()[3] }

    private static func nanoseconds(times count: Int, _ body: () -> Void) -> Double {
        ContinuousClock().measure(body) / .nanoseconds(1) / Double(count)
    }

    private static func addition() -> Double {
        let (count, cell) = (10_000_000, Cell())
        return nanoseconds(times: count) { for _ in 0..<count { cell.value.wrappingAdd(1, ordering: .relaxed) } }
    }

    /// Two threads count in turns: one makes the number odd, the other even.
    private static func thereAndBack() -> Double {
        let (count, cell, roles) = (200_000, Cell(), Cell())
        return nanoseconds(times: count) {
            onThreads(2) {
                let role = roles.value.wrappingAdd(1, ordering: .relaxed).oldValue
                for round in 0..<count {
                    while cell.value.load(ordering: .acquiring) != 2 * round + role {}
                    cell.value.store(2 * round + role + 1, ordering: .releasing)
                }
            }
        }
    }

    private static func allocation(freedElsewhere: Bool) -> Double {
        let count = 200_000
        nonisolated(unsafe) let blocks = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: count)
        defer { blocks.deallocate() }
        let time = nanoseconds(times: count) {
            for index in 0..<count {
                blocks[index] = malloc(96)
                // Used, as a rule.
                blocks[index]?.storeBytes(of: index, as: Int.self)
            }
            if !freedElsewhere { for index in 0..<count { free(blocks[index]) } }
        }
        guard freedElsewhere else { return time }
        return time + nanoseconds(times: count) { onThreads(1) { for index in 0..<count { free(blocks[index]) } } }
    }

    private static func read() -> Double {
        let count = 1_000_000
        var place = Int.random(in: 0..<ring.count)
        let time = nanoseconds(times: count) { for _ in 0..<count { place = ring[place] } }
        precondition(place < ring.count)
        return time
    }

    /// 64 MiB; each word says where the next is, in one ring through all of them.
    private static let ring: [Int] = {
        var next = Array(0..<1 << 23)
        var random = SeededRandom(seed: 1)
        // Sattolo's shuffle, which makes one ring.
        for index in stride(from: next.count - 1, to: 0, by: -1) {
            next.swapAt(index, Int.random(in: 0..<index, using: &random))
        }
        return next
    }()

    /// Half of what it takes two threads to wake one another, each asleep when woken.
    private static func wake() -> Double {
        let (count, turn, roles) = (20_000, Turn(), Cell())
        return nanoseconds(times: 2 * count) {
            onThreads(2) {
                let role = roles.value.wrappingAdd(1, ordering: .relaxed).oldValue
                for _ in 0..<count { turn.wait(for: role) }
            }
        }
    }

    private final class Cell: Sendable {
        let value = Atomic(0)
    }

    private final class Turn: @unchecked Sendable {
        // Sendable: `now` is reached under the mutex only.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var now = 0

        init() {
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(changed, nil)
        }

        deinit {
            pthread_cond_destroy(changed)
            pthread_mutex_destroy(mutex)
            changed.deallocate()
            mutex.deallocate()
        }

        /// Waits until it is this one's turn, and gives it to the other.
        func wait(for role: Int) {
            pthread_mutex_lock(mutex)
            while now != role { pthread_cond_wait(changed, mutex) }
            now = 1 - role
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(changed)
        }
    }
}
