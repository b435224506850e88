#if DEBUG
@testable import Operations
import TestSupport
import Testing

/// Debug builds stop at a second lock, and at a call of foreign code with a lock held.
@Suite(.timeLimit(.minutes(5))) struct HeldLocksTests {
    enum Mistake: CaseIterable, Codable {
        case twoLocks, lockAndSpinLock, foreignCode

        func commit() {
            let spinLock = SpinLock()
            Locked(0).withLock { _ in
                switch self {
                case .twoLocks: Locked(0).withLock { $0 += 1 }
                case .lockAndSpinLock: spinLock.withLock {}
                case .foreignCode: HeldLocks.assertNone()
                }
            }
        }

        var message: String { self == .foreignCode ? "foreign code is called" : "a second lock is taken" }
    }

    @Test(arguments: Mistake.allCases)
    func `a second lock, or a call of foreign code with a lock held, stops the process`(mistake: Mistake) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [mistake] in
            mistake.commit()
        }
        #expect(String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains(mistake.message))
    }

    @Test func `after a section the thread holds no lock, regardless of the locks of other threads`() {
        let (lock, held, over) = (Locked(0), Gate(), Gate())
        let holder = TestThread {
            lock.withLock { _ in
                held.open()
                over.pass()
            }
        }
        held.pass()
        HeldLocks.assertNone()
        Locked(0).exchange(1)
        HeldLocks.assertNone()
        over.open()
        holder.join()
        HeldLocks.assertNone()
    }
}
#endif
