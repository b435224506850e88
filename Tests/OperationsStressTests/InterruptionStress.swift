#if canImport(Glibc)
import CAllocator
import Glibc
import Operations
import Synchronization
import TestSupport
import Testing

/// A thread that loses its processor between any two instructions, as on a loaded machine. Signals interrupt the thread
/// there, and the handler sleeps. The object that a critical section returns has to be retained by then.
///
/// For release builds, because a debug build moves no retain. Freed memory is overwritten, so that its use is noticed.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct InterruptionStress
{
    @Test func `an async operation is cancelled while it ends`() {
        let queue = OperationQueue()
        race {
            let operation = TaskOperation {}
            return Round(
                first: { interrupt in
                    queue.addOperation(operation)
                    interrupt()
                    operation.waitUntilFinished()
                }, interrupted: { operation.cancel() })
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a completion block is read while another one replaces it`() {
        race {
            let operation = Operation()
            operation.completionBlock = { [count = Counter()] in count.add() }
            return Round(
                first: { interrupt in
                    for _ in 0..<20 {
                        interrupt()
                        operation.completionBlock = { [count = Counter()] in count.add() }
                    }
                }, interrupted: { operation.completionBlock?() })
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// The work of two threads at the same time.
    private struct Round: Sendable {
        let first: @Sendable (_ interrupt: () -> Void) -> Void
        let interrupted: @Sendable () -> Void
    }

    private final class Shared: Sendable {
        let round = Guarded<Round?>(nil)
        let begun = Atomic<Int>(0)
        let over = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        let thread = Atomic<UInt>(0)
    }

    private func race(_ make: () -> Round) {
        mallopt(M_PERTURB, 0xA5)
        defer { mallopt(M_PERTURB, 0) }
        signal(SIGUSR2) { _ in usleep(20) }
        let rounds = Stress.rounds(2000)
        let shared = Shared()
        let spins = Atomic<Int>(0)
        let victim = TestThread {
            shared.thread.store(UInt(pthread_self()), ordering: .releasing)
            for number in 1...rounds {
                while shared.begun.load(ordering: .acquiring) < number { Pause.yield() }
                let round = shared.round.withLock { $0 }
                while shared.over.load(ordering: .acquiring) < number { round?.interrupted() }
                shared.ended.store(number, ordering: .releasing)
            }
        }
        while shared.thread.load(ordering: .acquiring) == 0 { Pause.yield() }
        let thread = pthread_t(shared.thread.load(ordering: .acquiring))
        for number in 1...rounds {
            let round = make()
            shared.round.withLock { $0 = round }
            shared.begun.store(number, ordering: .releasing)
            round.first {
                // At a different moment each time.
                for _ in 0..<(number % 64) { spins.wrappingAdd(1, ordering: .relaxed) }
                pthread_kill(thread, SIGUSR2)
            }
            shared.over.store(number, ordering: .releasing)
            while shared.ended.load(ordering: .acquiring) < number { Pause.yield() }
        }
        victim.join()
    }
}
#endif
