import Dispatch
import DurableCore
import Testing

@testable import OperationsDurable

@Suite struct NoticesTests {
    @Test func `the observer of the use knows the last use, however its calls overlap`() async {
        let notices = StoreNotices()
        let (uses, isInside, mayLeave) = (Locked<[Bool]>([]), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        notices.setUseObserver { isInUse in
            if !isInUse {
                isInside.signal()
                mayLeave.wait()
            }
            uses.withLock { $0.append(isInUse) }
        }
        let token = notices.addListener { _ in }
        let isRemoved = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            notices.removeListener(token)
            isRemoved.signal()
        }
        isInside.wait()
        // The use begins again while the observer is inside the call about its end.
        _ = notices.addListener { _ in }
        mayLeave.signal()
        isRemoved.wait()
        #expect(uses.withLock { $0 } == [true, false, true])
    }
}
