import KeyValueObserving
import Observation
import TestSupport
import Testing

/// Changes of a `@KeyValueObserved` property in place, such as `append`.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct InPlaceTests {
    /// An array that is copied has another address.
    @Test func `an array that no observer needs the old value of is changed without a copy`() {
        let list = List()
        list.items.reserveCapacity(100)
        let address = list.address
        for item in 0..<50 { list.items.append(item) }
        list.items[7] = 70
        #expect(list.address == address)
        let log = Journal<Int>()
        let token = list.observe(\.items) { list, _ in log.append(list.items.count) }
        list.items.append(50)
        list.items.removeLast()
        #expect(list.address == address && log.entries == [51, 50])
        token.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `an array that is changed in place announces the values before and after the change`() {
        let (list, log) = (List(), Journal<String>())
        let token = list.observe(\.items, options: [.prior, .old, .new]) {
            log.append($1.isPrior ? "will \($0.items) \($1.oldValue!)" : "did \($1.oldValue!) \($1.newValue!)")
        }
        list.items.append(1)
        list.items += [2]
        #expect(log.entries == ["will [] []", "did [] [1]", "will [1] [1]", "did [1] [1, 2]"])
        token.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `a change in place that throws is announced`() {
        let (list, log) = (List(), Journal<[Int]>())
        let token = list.observe(\.items, options: .new) { log.append($1.newValue!) }
        #expect(throws: Refusal.self) { try list.items.appendAndThrow(1) }
        #expect(log.entries == [[1]])
        token.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test(arguments: [[], .new, [.prior, .new]] as [NSKeyValueObservingOptions])
    func `an observer that is added during a change in place is notified after it`(options: NSKeyValueObservingOptions)
    {
        let (list, log) = (List(), Journal<String>())
        var token: NSKeyValueObservation?
        list.change {
            $0.append(1)
            token = list.observe(\.items, options: options) { list, change in
                log.append(change.isPrior ? "will" : "did \(list.items)")
            }
            $0.append(2)
        }
        #expect(log.entries == (options.contains(.prior) ? ["will", "did [1, 2]"] : ["did [1, 2]"]))
        token?.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `an observer that another thread adds during a change in place is notified after it`() {
        let (list, log) = (List(), Journal<[Int]>())
        let token = Guarded<NSKeyValueObservation?>(nil)
        list.change { items in
            TestThread { token.withLock { $0 = list.observe(\.items, options: .new) { log.append($1.newValue!) } } }
                .join()
            items.append(1)
        }
        #expect(log.entries == [[1]])
        token.withLock { $0.take() }?.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `a change in place that ends on another thread announces the values before and after it`() async {
        let (list, log) = (List(), Journal<[[Int]]>())
        let token = list.observe(\.items, options: [.old, .new]) { log.append([$1.oldValue!, $1.newValue!]) }
        func appendSlowly(_ items: inout [Int]) async {
            items.append(1)
            await Task.yield()
            items.append(2)
        }
        await Task(executorPreference: ThreadForEachJob()) { await appendSlowly(&list.items) }.value
        list.items = []
        #expect(log.entries == [[[], [1, 2]], [[1, 2], []]])
        token.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `a dependent property of an array that is changed in place notifies its observer`() {
        let (list, log) = (List(), Journal<[Int]>())
        let token = list.observe(\.count, options: [.old, .new]) { log.append([$1.oldValue!, $1.newValue!]) }
        list.items.append(1)
        #expect(log.entries == [[0, 1]])
        token.invalidate()
        withExtendedLifetime(list) {}
    }

    @Test func `a change in place notifies the Observation framework`() {
        let (list, log) = (List(), Journal<Int>())
        withObservationTracking {
            _ = list.items
        } onChange: {
            log.append(1)
        }
        list.items.append(1)
        #expect(log.entries == [1])
        withExtendedLifetime(list) {}
    }
}

private struct Refusal: Error {}

/// An executor that runs each part of a task between two suspensions on a thread of its own.
private final class ThreadForEachJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        _ = TestThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension [Int] {
    fileprivate mutating func appendAndThrow(_ item: Int) throws {
        append(item)
        throw Refusal()
    }
}

private final class List: KeyValueObservable, Observable, @unchecked Sendable {
    // Sendable: no two threads use the array at the same time.
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var items: [Int] = []

    var count: Int { items.count }
    var address: UInt { items.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }

    func change(_ body: (inout [Int]) -> Void) { body(&items) }

    static var keyValueKeys: [KeyValueKey] {
        [KeyValueKey("items", \List.items), KeyValueKey("count", \List.count, affectedBy: ["items"])]
    }
}
