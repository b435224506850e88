import Operations
import Synchronization
import TestSupport
import Testing

/// Rules K6, L9 under contention: every change once, with its own values, and the last announcement has the final value.
@Suite(.timeLimit(.minutes(5)), .tags(.threads, .release)) struct ObserveRaceTests {
    private final class Quiet: Operation, @unchecked Sendable {}

    private static let rounds = Stress.rounds(1000, least: 200)

    @Test func `when many threads cancel, each state is announced once`() {
        for _ in 0..<Self.rounds {
            let (operation, log) = (Quiet(), Journal<String>())
            operation.addDependency(Quiet())
            let tokens = [
                operation.observe(\.isCancelled, options: [.old, .new, .prior]) {
                    log.append("cancelled \($1.isPrior) \($1.oldValue!)")
                },
                operation.observe(\.isReady, options: [.old, .new]) { log.append("ready \($1.newValue!)") },
            ]
            let meeting = Gate(3)
            let threads = (0..<3).map { _ in
                TestThread {
                    meeting.meet()
                    operation.cancel()
                }
            }
            for thread in threads { thread.join() }
            #expect(
                log.entries.filter { $0 != "ready true" } == ["cancelled true false", "cancelled false false"])
            #expect(log.entries.count == 3)
            for token in tokens { token.invalidate() }
        }
    }

    /// Rule K8. Both threads end the sequence, and one of them does.
    @Test func `an operation may be released while the reader of its values stops`() {
        for _ in 0..<Self.rounds {
            let (operation, meeting) = (Guarded<Quiet?>(Quiet()), Gate(2))
            let values = Guarded(operation.withLock { $0?.values(for: \.isFinished).makeAsyncIterator() })
            let releasing = TestThread {
                meeting.meet()
                operation.withLock { $0 = nil }
            }
            meeting.meet()
            values.withLock { $0 = nil }
            releasing.join()
        }
    }

    /// Rules K6, A2: an announcement that another one overtakes is made too, with the value at that time.
    @Test func `announcements of isReady by several threads alternate, and the last one has the final value`() {
        for _ in 0..<Self.rounds {
            let (operation, log) = (Quiet(), Journal<[Bool]>())
            let dependencies = (0..<6).map { _ in Quiet() }
            let token = operation.observe(\.isReady, options: [.old, .new]) {
                log.append([$1.oldValue!, $1.newValue!])
            }
            let meeting = Gate(3)
            let threads = (0..<3).map { number in
                TestThread {
                    meeting.meet()
                    for dependency in dependencies[2 * number..<2 * number + 2] {
                        operation.addDependency(dependency)
                        if number == 0 { operation.removeDependency(dependency) } else { dependency.start() }
                    }
                }
            }
            for thread in threads { thread.join() }
            // One announcement for each first dependency that was added, and for each last one that was removed.
            #expect(log.entries.count.isMultiple(of: 2) && log.entries.first?[0] == true)
            #expect(zip(log.entries, log.entries.dropFirst()).allSatisfy { $0[1] == $1[0] })
            #expect(log.entries.last?[1] == operation.isReady)
            token.invalidate()
        }
    }

    @Test func `values that several threads set are announced in order, with the replaced values`() {
        for _ in 0..<Self.rounds / 4 {
            let (operation, names, priorities) = (Quiet(), Journal<[String?]>(), Journal<[Int]>())
            let tokens = [
                operation.observe(\.name, options: [.old, .new]) { names.append([$1.oldValue!, $1.newValue!]) },
                operation.observe(\.queuePriority, options: [.old, .new]) {
                    priorities.append([$1.oldValue!.rawValue, $1.newValue!.rawValue])
                },
            ]
            let meeting = Gate(3)
            let threads = (0..<3).map { number in
                TestThread {
                    meeting.meet()
                    for round in 0..<20 {
                        operation.name = "\(number) \(round)"
                        operation.queuePriority = round % 2 == 0 ? .low : .high
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(names.entries.count == 60 && priorities.entries.count == 60)
            #expect(zip(names.entries, names.entries.dropFirst()).allSatisfy { $0[1] == $1[0] })
            #expect(zip(priorities.entries, priorities.entries.dropFirst()).allSatisfy { $0[1] == $1[0] })
            #expect(names.entries.last?[1] == operation.name)
            #expect(priorities.entries.last?[1] == operation.queuePriority.rawValue)
            for token in tokens { token.invalidate() }
        }
    }

    /// An observer with the first value and changes has the final value at the end, regardless of its beginning.
    @Test func `an observer that begins while an operation ends does not miss the end`() {
        let queue = OperationQueue()
        for _ in 0..<4 * Self.rounds {
            let operation = BlockOperation {}
            let last = Guarded<[Bool]>([])
            queue.addOperation(operation)
            let token = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
                last.withLock { $0.append(change.newValue!) }
            }
            operation.waitUntilFinished()
            let seen = last.withLock { $0 }
            #expect(seen.last == true && seen.count <= 2)
            token.invalidate()
        }
    }

    /// The same after an earlier observer, so that the operation is known to be observed.
    @Test func `a second observer of start and end does not miss the end`() {
        let queue = OperationQueue()
        for _ in 0..<4 * Self.rounds {
            let operation = BlockOperation {}
            let (executing, finished) = (Guarded<[Bool]>([]), Guarded<[Bool]>([]))
            let early = operation.observe(\.isFinished) { _, _ in }
            queue.addOperation(operation)
            let late = [
                operation.observe(\.isExecuting, options: [.initial, .new]) { _, change in
                    executing.withLock { $0.append(change.newValue!) }
                },
                operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
                    finished.withLock { $0.append(change.newValue!) }
                },
            ]
            operation.waitUntilFinished()
            #expect(executing.withLock { $0 }.last == false)
            #expect(finished.withLock { $0 }.last == true)
            for token in late + [early] { token.invalidate() }
        }
    }

    @Test func `after invalidate has returned, no observer is called on this thread`() {
        for _ in 0..<Self.rounds {
            let operation = Quiet()
            let isOver = Atomic(false)
            let mine = Journal<Bool>()
            let this = ThreadIdentity.current
            let token = operation.observe(\.name) { _, _ in
                if ThreadIdentity.current == this { mine.append(isOver.load(ordering: .relaxed)) }
            }
            let meeting = Gate(2)
            let other = TestThread {
                meeting.meet()
                for round in 0..<20 { operation.name = "\(round)" }
            }
            meeting.meet()
            operation.name = "before"
            token.invalidate()
            isOver.store(true, ordering: .relaxed)
            for _ in 0..<20 { operation.name = "after" }
            other.join()
            #expect(!mine.entries.contains(true))
        }
    }

    @Test func `observers that come and go while operations run leave nothing behind`() {
        let queue = OperationQueue()
        let notified = Atomic(0)
        for _ in 0..<Self.rounds / 10 {
            let operations = (0..<20).map { _ in BlockOperation {} }
            let meeting = Gate(2)
            let observer = TestThread {
                meeting.meet()
                for operation in operations {
                    let token = operation.observe(\.isFinished) { _, _ in notified.add(1, ordering: .relaxed) }
                    _ = operation.observe(\.isExecuting, options: [.old, .prior]) { operation, _ in operation.cancel() }
                    token.invalidate()
                }
            }
            meeting.meet()
            queue.addOperations(operations, waitUntilFinished: true)
            observer.join()
            #expect(operations.allSatisfy { $0.isFinished })
            #expect(operations.allSatisfy { $0.keyValueRegistrar.isEmpty })
        }
    }
}
