import BenchmarkReport
import Glibc
import Synchronization

/// The times of elementary steps on this machine. No queue can be faster than the sum of the steps that it cannot avoid.
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

    /// Two threads count alternately: one makes the number odd, and the other makes it even.
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
                // Memory is usually written after its allocation.
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

    /// 64 MiB. Each word has the index of the next word, in one ring through all words.
    private static let ring: [Int] = {
        var next = Array(0..<1 << 23)
        var random = SeededRandom(seed: 1)
        // Sattolo's shuffle, which makes a single ring.
        for index in stride(from: next.count - 1, to: 0, by: -1) {
            next.swapAt(index, Int.random(in: 0..<index, using: &random))
        }
        return next
    }()

    /// Returns half of the time in which two threads wake each other. Each thread is asleep when it is woken.
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
        // Sendable: `now` is used only under the mutex.
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

        /// Waits for the turn of this thread, and passes the turn to the other thread.
        func wait(for role: Int) {
            pthread_mutex_lock(mutex)
            while now != role { pthread_cond_wait(changed, mutex) }
            now = 1 - role
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(changed)
        }
    }
}
