#if canImport(Glibc)
import Glibc
import Operations
import TestSupport
import Testing

/// How often a test of limits repeats its work, and how it measures.
enum Limits {
    /// At the full size 100,000; in a debug build `debug`, where 100,000 would take more than about five seconds. At least 5,000,
    /// with which a leak of one small object each time exceeds the tolerance. Fewer are enough for larger objects.
    static func count(debug: Int = 100_000, least: Int = 5_000) -> Int {
        #if DEBUG
        Stress.rounds(debug, least: least)
        #else
        Stress.rounds(100_000, least: least)
        #endif
    }

    /// Does the work some times, then `count` times. Expects that the latter leaves no memory or descriptors.
    ///
    /// The library keeps threads and the storage of dictionaries of the first run for the second.
    ///
    /// - Parameter each: The bytes for each time that the Swift runtime keeps, not the library.
    static func expectNothingLeft(_ count: Int, each: Int = 0, _ body: (Int) async -> Void) async {
        await body(max(count / 4, min(count, 1_000)))
        settle()
        let descriptors = descriptorCount
        let (memory, tolerated) = (Memory.inUse, each * count + (count < 10_000 ? 1 << 18 : 1 << 19))
        await body(count)
        settle()
        let growth = Memory.inUse(atMost: memory + tolerated) - memory
        #expect(growth <= tolerated, "\(growth) bytes more after \(count) each time")
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
