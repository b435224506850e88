#if canImport(Glibc)
import CAllocator
import Glibc
import Operations
import TestSupport
import Testing

/// How often a test of limits repeats its work, and how it measures.
enum Limits {
    /// 100,000 in a release build; in a debug build `debug`, where 100,000 would take more than about five seconds. The
    /// environment variable `OPERATIONS_STRESS` multiplies it.
    static func count(debug: Int = 100_000) -> Int {
        #if DEBUG
        Stress.rounds(debug)
        #else
        Stress.rounds(100_000)
        #endif
    }

    /// Does the work some times, then `count` times. Expects that the latter leaves no memory or descriptors.
    ///
    /// The library keeps threads and the storage of dictionaries of the first run for the second. A task that sleeps, and a
    /// thread, may release their last memory a moment later. No event announces that, so the measurement is repeated.
    ///
    /// - Parameter each: The bytes for each time that the Swift runtime keeps, not the library.
    static func expectNothingLeft(_ count: Int, each: Int = 0, _ body: (Int) async -> Void) async {
        await body(max(count / 4, 1))
        settle()
        let descriptors = descriptorCount
        let memory = memoryInUse
        await body(count)
        settle()
        var growth = memoryInUse - memory
        for _ in 0..<1000 where growth > each * count + 1 << 19 {
            usleep(10_000)
            growth = memoryInUse - memory
        }
        #expect(growth <= each * count + 1 << 19, "\(growth) bytes more after \(count) each time")
        // Dispatch opens some of its own when it first has a timer to wait for.
        #expect(descriptorCount <= descriptors + 8)
    }

    /// Each worker has gone round its loop, and holds nothing from before.
    private static func settle() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        for _ in 0..<3 {
            let meeting = Gate(8)
            for _ in 0..<8 { queue.addOperation { meeting.meet() } }
            queue.addBarrierBlock {}
        }
        let end = Gate()
        queue.addBarrierBlock { end.open() }
        end.pass()
    }

    /// The bytes that `malloc` has given out. 0 with the allocators of the sanitizers.
    private static var memoryInUse: Int {
        let info = mallinfo2()
        return info.uordblks + info.hblkhd
    }

    private static var descriptorCount: Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}

extension OperationQueue {
    /// Adds the operation, and waits now and then, so that not all are there at once.
    func add(_ operation: Operations.Operation, number: Int, waitingEach period: Int = 1000) async {
        addOperation(operation)
        if number % period == 0 { await waitUntilAllOperationsAreFinished() }
    }
}
#endif
