#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Dispatch
@testable import Operations
import TestSupport
import Testing

/// Rule A14: a thread of the library inherits nothing from the thread that creates it. Each test has a process of its own, because
/// the first thread counts. Not with the tag `threads`: ThreadSanitizer supports no threads after a fork.
@Suite(.timeLimit(.minutes(5)), .tags(.ordinaryConditions)) struct ThreadOriginTests {
    @Test
    func `workers of all levels have the mask, affinity and policy of the process, regardless of the first adder`()
        async
    {
        await #expect(processExitsWith: .success) {
            let process = ThreadState.ofProcess
            let own = Guarded(ThreadState.ofThisThread)
            let states = Journal<ThreadState>()
            TestThread {
                var mask = sigset_t()
                sigfillset(&mask)
                pthread_sigmask(SIG_SETMASK, &mask, nil)
                var processors: [UInt64] = [1 << process.firstProcessor] + Array(repeating: 0, count: 15)
                _ = setAffinity(0, 128, &processors)
                var parameters = sched_param()
                // SCHED_BATCH.
                sched_setscheduler(0, 3, &parameters)
                own.withLock { $0 = .ofThisThread }
                for quality: QualityOfService in [.default, .background, .utility, .userInitiated, .userInteractive] {
                    let queue = OperationQueue()
                    queue.qualityOfService = quality
                    let meeting = Gate(4)
                    for _ in 0..<4 {
                        queue.addOperation {
                            states.append(.ofThisThread)
                            meeting.meet()
                        }
                    }
                    queue.waitUntilAllOperationsAreFinished()
                }
                // A timer fires on a worker that the monitor has requested.
                let timed = TaskOperation {
                    try await OperationClock().sleep(for: .milliseconds(1))
                    states.append(.ofThisThread)
                }
                OperationQueue().addOperation(timed)
                timed.waitUntilFinished()
            }.join()
            #expect(own.withLock { $0 } != process)
            #expect(states.entries == Array(repeating: process, count: 21))
            #expect(
                Processor.count == process.processors || ControlGroupQuota(read: Processor.contents).processors != nil)
        }
    }

    /// Dispatch blocks nearly all signals in its threads.
    @Test(arguments: [false, true])
    func `a process that an operation starts ends with SIGTERM, although a thread of Dispatch has added first`(
        inTask: Bool
    ) async {
        await #expect(processExitsWith: .success) { [inTask] in
            let queue = OperationQueue()
            let status = Guarded<Int32>(-1)
            let operation = BlockOperation {
                var process = pid_t()
                var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("100"), nil]
                posix_spawnp(&process, "sleep", nil, nil, &arguments, environ)
                kill(process, SIGTERM)
                var result: Int32 = 0
                waitpid(process, &result, 0)
                status.withLock { $0 = result & 0x7F }
            }
            if inTask {
                queue.addOperation(operation)
            } else {
                DispatchQueue.global().async { queue.addOperation(operation) }
            }
            await operation.waitUntilFinished()
            #expect(status.withLock { $0 } == SIGTERM)
        }
    }

    @Test func `signals that the process blocks before its first operation stay blocked in workers`() async {
        await #expect(processExitsWith: .success) {
            let process = getpid()
            // Only the first thread counts, and a test runs on another one. So these are children with one thread. In some, the
            // first thread is still creating the thread that adds.
            for _ in 0..<30 {
                let child = forkProcess()
                if child == 0 { break }
                var status: Int32 = -1
                waitpid(child, &status, 0)
                try #require(status == 0)
            }
            if getpid() == process { return }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = Processor.count
            var mask = sigset_t()
            sigemptyset(&mask)
            sigaddset(&mask, SIGUSR1)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
            let isBlocked = Guarded(false)
            TestThread {
                var mask = sigset_t()
                sigemptyset(&mask)
                pthread_sigmask(SIG_SETMASK, &mask, nil)
                queue.addOperation { isBlocked.withLock { $0 = ThreadState.ofThisThread.mask == 1 << (SIGUSR1 - 1) } }
                queue.waitUntilAllOperationsAreFinished()
            }.join()
            _exit(isBlocked.withLock { $0 } ? 0 : 1)
        }
    }
}

// Swift does not import these.
@_silgen_name("sched_getaffinity") private func getAffinity(
    _ thread: pid_t, _ size: Int, _ set: UnsafeMutableRawPointer
) -> Int32
@_silgen_name("sched_setaffinity") private func setAffinity(_ thread: pid_t, _ size: Int, _ set: UnsafeRawPointer)
    -> Int32
@_silgen_name("fork") private func forkProcess() -> pid_t

/// The attributes that a thread inherits from the thread that creates it.
private struct ThreadState: Equatable, Sendable {
    var mask: UInt64
    var policy: Int32
    var processors: Int
    var firstProcessor: Int

    static var ofThisThread: ThreadState { ThreadState(thread: 0, status: "/proc/thread-self/status") }
    static var ofProcess: ThreadState {
        while true {
            let state = ThreadState(thread: getpid(), status: "/proc/self/status")
            // The C library blocks all signals, its own two included, in a thread that is creating another one.
            if state.mask & 3 << 31 == 0 { return state }
        }
    }

    private init(thread: pid_t, status: String) {
        let line = Processor.contents(of: status)?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
        mask = line.flatMap { UInt64($0.split(whereSeparator: \.isWhitespace)[1], radix: 16) } ?? .max
        policy = sched_getscheduler(thread)
        var bits = [UInt64](repeating: 0, count: 16)
        _ = getAffinity(thread, 128, &bits)
        processors = bits.reduce(0) { $0 + $1.nonzeroBitCount }
        firstProcessor = bits.first?.trailingZeroBitCount ?? 0
    }
}
#endif
