#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Operations
import TestSupport
import Testing

/// Rule A18. Each test has a process of its own. Not with the tag `threads`: ThreadSanitizer supports no threads after a fork.
@Suite(.timeLimit(.minutes(5)), .tags(.ordinaryConditions)) struct ForkTests {
    enum Use: String, CaseIterable, Codable { case add, addOperation, addTask, addBarrier, wait, waitForAll }

    @Test(arguments: Use.allCases)
    func `a queue in a child of fork stops the child with a message, in place of a hang`(use: Use) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [use] in
            Self.useInChild(use)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("a queue is used in a child of fork()"))
    }

    @Test func `a child that was forked before the first operation has queues of its own`() async {
        await #expect(processExitsWith: .success) {
            Self.useInBoth()
        }
    }

    @Test func `operations on many threads start processes by fork and exec`() async {
        await #expect(processExitsWith: .success) {
            Self.startProcesses()
        }
    }

    private static func useInChild(_ use: Use) {
        let queue = OperationQueue()
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        // An idle worker, a queue that holds an operation, and an operation that waits.
        let waiting = BlockOperation {}
        let suspended = OperationQueue()
        suspended.isSuspended = true
        suspended.addOperation(waiting)
        let child = forkProcess()
        if child == 0 {
            // The dump of the runtime would take seconds.
            signal(SIGILL, SIG_DFL)
            signal(SIGTRAP, SIG_DFL)
            switch use {
            case .add: queue.addOperation {}
            case .addOperation: queue.addOperation(Operation())
            case .addTask: queue.addTask {}
            case .addBarrier: queue.addBarrierBlock {}
            case .wait: waiting.waitUntilFinished()
            case .waitForAll: suspended.waitUntilAllOperationsAreFinished()
            }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        #expect(status & 0x7F == SIGILL || status & 0x7F == SIGTRAP)
        suspended.isSuspended = false
        suspended.waitUntilAllOperationsAreFinished()
    }

    private static func useInBoth() {
        let child = forkProcess()
        let queue = OperationQueue()
        let (ran, count) = (Guarded(0), 100)
        for _ in 0..<count { queue.addOperation { ran.withLock { $0 += 1 } } }
        queue.waitUntilAllOperationsAreFinished()
        if child == 0 { _exit(ran.withLock { $0 } == count ? 0 : 1) }
        var status: Int32 = -1
        waitpid(child, &status, 0)
        #expect(status == 0 && ran.withLock { $0 } == count)
    }

    private static func startProcesses() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let succeeded = Guarded(0)
        for _ in 0..<20 {
            queue.addOperation {
                var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
                let child = forkProcess()
                if child == 0 {
                    execvp("true", &arguments)
                    _exit(127)
                }
                var status: Int32 = -1
                waitpid(child, &status, 0)
                if status == 0 { succeeded.withLock { $0 += 1 } }
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(succeeded.withLock { $0 } == 20)
    }
}

// Swift does not import it.
@_silgen_name("fork") private func forkProcess() -> pid_t
#endif
