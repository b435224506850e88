#if canImport(Glibc)
import Glibc
@testable import Operations
import Synchronization
import TestSupport
import Testing

/// Sizes far beyond real programs, and the memory after them. The tests run one at a time, each in a separate process,
/// because they check the memory of the process.
@Suite(.serialized, .timeLimit(.minutes(20)), .tags(.release, .slow)) struct ScaleStress {
    @Test func `millions of pending operations run, and their memory is released`() async {
        printOutput(await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { runPending() })
    }

    @Test func `a very long chain runs, and its memory is released`() async {
        printOutput(await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { runChain() })
    }

    @Test func `very many queues at once run their operations and release their memory`() async {
        printOutput(await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { runManyQueues() })
    }

    @Test(.tags(.threads)) func `64 threads add to one queue`() async {
        printOutput(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { addFromManyThreads() }
        )
    }

    /// Workers without work end after `idleSeconds`. The remaining threads sleep.
    @Test func `an idle process with queues has the threads it began with, and uses no processor time`() async {
        await #expect(processExitsWith: .success) { comeToRest() }
    }
}

private func runPending() {
    let count = Stress.rounds(1_000_000, small: 6_000)
    report("\(count) pending operations") {
        runAll(count) { queue, block in for _ in 0..<count { queue.addOperation(block) } }
    }
}

private func runChain() {
    let count = Stress.rounds(200_000, small: 6_000)
    report("a chain of \(count) operations") {
        runAll(count) { queue, block in
            var last: Operation?
            for _ in 0..<count {
                let operation = BlockOperation(block: block)
                if let last { operation.addDependency(last) }
                last = operation
                queue.addOperation(operation)
            }
        }
    }
}

/// Fills a suspended queue with this many operations and runs them. Returns the memory in use while all wait.
private func runAll(_ count: Int, filledBy fill: (OperationQueue, @escaping @Sendable () -> Void) -> Void) -> Int {
    let (queue, ran) = (OperationQueue(), Tally())
    queue.isSuspended = true
    fill(queue) { ran.add() }
    let peak = Memory.inUse
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.count == count)
    return peak
}

private func runManyQueues() {
    let count = Stress.rounds(20_000)
    report("\(count) queues") {
        let ran = Tally()
        let queues = (0..<count).map { index in
            let queue = OperationQueue()
            if index % 2 == 0 { queue.maxConcurrentOperationCount = 1 }
            queue.isSuspended = true
            queue.addOperation { ran.add() }
            return queue
        }
        let peak = Memory.inUse
        for queue in queues { queue.isSuspended = false }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        #expect(ran.count == count)
        return peak
    }
}

private func addFromManyThreads() {
    let each = Stress.rounds(2_000)
    report("64 threads that add \(each) operations each") {
        let (queue, ran) = (OperationQueue(), Tally())
        let threads = (0..<64).map { _ in
            TestThread { for _ in 0..<each { queue.addOperation { ran.add() } } }
        }
        for thread in threads { thread.join() }
        queue.waitUntilAllOperationsAreFinished()
        #expect(ran.count == 64 * each)
        return Memory.inUse
    }
}

/// Runs the body three times, or twice. The stall watches of suspended queues stay for ten seconds. Lost memory would grow each
/// time.
private func report(_ what: String, _ body: () -> Int) {
    let clock = ContinuousClock()
    let before = Memory.inUse
    var expected = before
    for round in 1...min(3, Stress.rounds(3, least: 2)) {
        var peak = 0
        let time = clock.measure { peak = body() }
        let after = Memory.inUse(atMost: expected + tolerated)
        print(
            "scale: \(what): \(time), \((peak - before) >> 10) KiB at most, \((after - before) >> 10) KiB after,",
            "\(Memory.resident >> 20) MiB of the process resident")
        if round == 1 { expected = after }
        #expect(after <= expected + tolerated)
    }
}

private let tolerated = Stress.rounds(8 << 20, least: 1 << 20)

private func printOutput(_ child: ExitTest.Result?) {
    if let child { print(String(decoding: child.standardOutputContent, as: UTF8.self), terminator: "") }
}

private func comeToRest() {
    WorkerPool.idleSeconds.store(UInt64(min(5, Stress.rounds(5))), ordering: .relaxed)
    let before = Threads.count
    let queues = (0..<20).map { _ in OperationQueue() }
    for queue in queues { for _ in 0..<50 { queue.addOperation { usleep(100) } } }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    // The monitor stays.
    // By name as well. Threads of Dispatch, which runs the test, end in the same seconds. They made the number right while
    // workers still existed, whose end then used processor time.
    while Threads.count(named: "operation queue") > 0 || Threads.count > before + 1 { usleep(10_000) }
    let used = Threads.processorTime
    usleep(1_000_000)
    precondition(Threads.processorTime - used < 0.005)
    withExtendedLifetime(queues) {}
}

private final class Tally: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}

private enum Threads {
    static var count: Int { names.count }

    static func count(named name: String) -> Int { names.count { $0 == name } }

    /// The names of all threads, as the system keeps them, without threads that end during the read.
    private static var names: [String] {
        guard let directory = opendir("/proc/self/task") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let id = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !id.hasPrefix("."), let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
            defer { fclose(file) }
            var line = [UInt8](repeating: 0, count: 32)
            let length = fread(&line, 1, line.count, file)
            names.append(String(decoding: line.prefix(length).prefix { $0 != 0x0A }, as: UTF8.self))
        }
        return names
    }

    /// Of all threads, in seconds.
    static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#endif
