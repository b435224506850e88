#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import TestSupport
import Testing

/// Rule U2: a queue itself, on the system's clock. These tests check only lower limits of elapsed time.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct RealTimeTests {
    private let queue = OperationQueue()
    private let begin = ContinuousClock.now

    init() { queue.maxConcurrentOperationCount = 1 }

    /// One millisecond less, because the queue's date may deviate by one millisecond.
    private func hasPassed(_ milliseconds: Int) -> Bool {
        ContinuousClock.now - begin >= .milliseconds(milliseconds - 1)
    }

    /// Rule U2.
    @Test func `delay on a serial queue keeps the order of thousands of values and the completion last`() {
        let (journal, end) = (Journal<Int>(), Gate())
        let subject = PassthroughSubject<Int, Never>()
        let token = subject.delay(for: .milliseconds(3), scheduler: queue).sink(
            receiveCompletion: { _ in end.open() }, receiveValue: { journal.append($0) })
        for value in 0..<5000 { subject.send(value) }
        subject.send(completion: .finished)
        end.pass()
        #expect(journal.entries == Array(0..<5000))
        token.cancel()
    }

    /// Rule U2.
    @Test func `a delayed value does not arrive early`() {
        let (isLate, end) = (Journal<Bool>(), Gate())
        let token = Just(1).delay(for: .milliseconds(30), scheduler: queue).sink(
            receiveCompletion: { _ in end.open() },
            receiveValue: { _ in isLate.append(hasPassed(30) && OperationQueue.current === queue) })
        end.pass()
        #expect(isLate.entries == [true])
        token.cancel()
    }

    /// Rule U2.
    @Test func `debounce delivers the last value, and not early`() {
        let (isLate, last) = (Journal<Bool>(), Gate())
        let subject = PassthroughSubject<Int, Never>()
        let token = subject.debounce(for: .milliseconds(30), scheduler: queue).sink { value in
            isLate.append(hasPassed(30))
            if value == 99 { last.open() }
        }
        for value in 0..<100 { subject.send(value) }
        last.pass()
        #expect(isLate.entries.allSatisfy { $0 })
        token.cancel()
    }

    /// Rule U2.
    @Test func `a repetition keeps its interval and ends by its own action`() {
        let (isLate, end, token) = (Journal<Bool>(), Gate(), Guarded<(any Cancellable)?>(nil))
        let hasToken = Gate()
        let date = queue.now.advanced(by: .milliseconds(5))
        let new = queue.schedule(after: date, interval: .milliseconds(5)) {
            hasToken.pass()
            isLate.append(hasPassed(5 * (isLate.entries.count + 1)))
            guard isLate.entries.count == 4 else { return }
            token.withLock { $0 }?.cancel()
            end.open()
        }
        token.withLock { $0 = new }
        hasToken.open()
        end.pass()
        queue.waitUntilAllOperationsAreFinished()
        #expect(isLate.entries == [true, true, true, true])
    }

    /// Rule U2.
    @Test func `delayed actions of one queue do not wait for another, suspended queue`() {
        let (other, end) = (OperationQueue(), Gate())
        other.isSuspended = true
        let date = queue.now.advanced(by: .milliseconds(1))
        for _ in 0..<10 { other.schedule(after: date) {} }
        queue.schedule(after: date.advanced(by: .milliseconds(1))) { end.open() }
        end.pass()
        other.cancelAllOperations()
        other.isSuspended = false
        other.waitUntilAllOperationsAreFinished()
    }
}
#endif
