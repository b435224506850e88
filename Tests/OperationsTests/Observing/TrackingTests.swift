import Observation
import Operations
import TestSupport
import Testing

/// Rule K8: operations and queues are `Observable`.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct TrackingTests {
    @Test(arguments: Fact.ofOperations)
    func `a change of an operation's property notifies a tracker that has read it once`(_ fact: Fact<Operation>) {
        let operation = Operation()
        let notified = Journal<String>()
        withObservationTracking {
            fact.read(operation)
        } onChange: {
            notified.append(fact.name)
        }
        #expect(notified.entries == [])
        fact.change(operation)
        #expect(notified.entries == [fact.name])
        withObservationTracking {
            fact.read(operation)
        } onChange: {
            notified.append("again")
        }
        fact.changeBack?(operation)
        #expect(notified.entries == [fact.name] + (fact.changeBack == nil ? [] : ["again"]))
    }

    @Test(arguments: Fact.ofQueues)
    func `a change of a queue's property notifies a tracker that has read it once`(_ fact: Fact<OperationQueue>) {
        let queue = OperationQueue()
        queue.isSuspended = true
        let notified = Journal<String>()
        withObservationTracking {
            fact.read(queue)
        } onChange: {
            notified.append(fact.name)
        }
        fact.change(queue)
        fact.changeBack?(queue)
        #expect(notified.entries == [fact.name])
        withObservationTracking {
            fact.read(queue)
        } onChange: {
            notified.append("again")
        }
        fact.change(queue)
        #expect(notified.entries == [fact.name, "again"])
        queue.isSuspended = false
    }

    @Test func `a property that was not read notifies no tracker`() {
        let operation = Operation()
        withObservationTracking {
            _ = operation.name
        } onChange: {
            Issue.record("notified of something else")
        }
        operation.cancel()
        operation.start()
        operation.queuePriority = .high
    }

    @Test func `the new value is set when the tracker is notified`() {
        let operation = Operation()
        let seen = Journal<Bool>()
        withObservationTracking {
            _ = operation.isFinished
        } onChange: {
            seen.append(operation.isFinished)
        }
        operation.start()
        #expect(seen.entries == [true])
    }

    @Test(arguments: Fact.ofOperations)
    func `a change between the read and the end of the tracked closure notifies`(_ fact: Fact<Operation>) {
        let operation = Operation()
        for hasBeenTracked in [false, true] {
            if hasBeenTracked, fact.changeBack == nil { break }
            let notified = Gate()
            withObservationTracking {
                fact.read(operation)
                hasBeenTracked ? fact.changeBack?(operation) : fact.change(operation)
            } onChange: {
                notified.open()
            }
            notified.pass()
        }
    }

    @Test func `a queue's change between the read and the end of the tracked closure notifies`() {
        let queue = OperationQueue()
        let notified = Gate()
        withObservationTracking {
            _ = queue.isSuspended
            queue.isSuspended = true
        } onChange: {
            notified.open()
        }
        notified.pass()
    }

    @Test func `a tracker that reads again after each notification learns of the end, under any interleaving`() async {
        for _ in 0..<2_000 {
            let operation = BlockOperation {}
            let finisher = TestThread { operation.start() }
            while true {
                let changed = AsyncStream.makeStream(of: Void.self)
                let isFinished = withObservationTracking {
                    operation.isFinished
                } onChange: {
                    changed.continuation.finish()
                }
                if isFinished { break }
                for await _ in changed.stream {}
            }
            finisher.join()
        }
    }

    @Test(.tags(.release)) func `an operation may change and be released while a thread begins to track it`() {
        for _ in 0..<Stress.rounds(4_000, least: 1_000) {
            let (operation, meeting) = (Guarded<BlockOperation?>(BlockOperation {}), Gate(2))
            let releasing = TestThread {
                meeting.meet()
                operation.withLock { $0.take() }?.cancel()
            }
            withObservationTracking {
                _ = operation.withLock { $0 }?.isCancelled
                meeting.meet()
            } onChange: {
            }
            releasing.join()
        }
    }

    @Test func `Observations has the values until the end`() async {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let queue = OperationQueue()
        let gate = Gate()
        let operation = BlockOperation { gate.pass() }
        queue.addOperation(operation)
        var seen: [Bool] = []
        for await isFinished in Observations({ operation.isFinished }) {
            seen.append(isFinished)
            if isFinished { break }
            gate.open()
        }
        #expect(seen == [false, true])
    }

    @Test func `several objects tracked by one closure notify it once`() {
        let (operation, other, queue) = (Operation(), Operation(), OperationQueue())
        let notified = Journal<Int>()
        withObservationTracking {
            _ = (operation.isCancelled, operation.isFinished, other.isFinished, queue.isSuspended)
        } onChange: {
            notified.append(1)
        }
        other.start()
        operation.cancel()
        operation.start()
        queue.isSuspended = true
        #expect(notified.entries == [1])
    }

    @Test func `properties that the system reads itself are not tracked`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = Operation()
        let dependency = Operation()
        withObservationTracking {
            operation.addDependency(dependency)
            queue.addOperation(operation)
            operation.cancel()
            dependency.start()
        } onChange: {
            Issue.record("notified of what was not read")
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `reads without tracking leave no observers behind`() {
        let operation = Operation()
        _ = (operation.isFinished, operation.isReady, operation.name, operation.dependencies)
        #expect(operation.keyValueRegistrar.isEmpty)
        let queue = OperationQueue()
        _ = (queue.isSuspended, queue.name, queue.maxConcurrentOperationCount)
        #expect(queue.keyValueRegistrar.isEmpty)
    }

    @Test func `neither the object nor its tracker keeps the other alive`() {
        final class Tracker: Sendable { func changed() { Issue.record("nothing has changed") } }
        var tracker: Tracker? = Tracker()
        var operation: Operation? = Operation()
        let weak = (operation: Weak(operation!), tracker: Weak(tracker!))
        withObservationTracking { [operation] in
            _ = (operation!.isFinished, operation!.name)
        } onChange: { [tracker] in
            tracker!.changed()
        }
        tracker = nil
        #expect(!weak.tracker.isGone)
        operation = nil
        #expect(weak.operation.isGone)
        #expect(weak.tracker.isGone)
    }

    @Test func `an override that announces its changes reports its reads`() {
        let operation = Download()
        let notified = Journal<String>()
        withObservationTracking {
            _ = operation.isExecuting
        } onChange: {
            notified.append("executing")
        }
        withObservationTracking {
            _ = operation.fraction
        } onChange: {
            notified.append("fraction")
        }
        operation.start()
        #expect(notified.entries == ["executing"])
        operation.fraction = 0.5
        #expect(notified.entries == ["executing", "fraction"])
    }

    final class Download: Operation, @unchecked Sendable {
        private var isRunning = false
        override var isExecuting: Bool {
            access(keyPath: \.isExecuting)
            return isRunning
        }
        override func start() {
            willChangeValue(for: \.isExecuting)
            isRunning = true
            didChangeValue(for: \.isExecuting)
        }
        private var loaded = 0.0
        var fraction: Double {
            get {
                access(keyPath: \.fraction)
                return loaded
            }
            set {
                willChangeValue(for: \.fraction)
                loaded = newValue
                didChangeValue(for: \.fraction)
            }
        }
    }

    struct Fact<Object: Sendable>: Sendable, CustomTestStringConvertible {
        let name: String
        let read: @Sendable (Object) -> Void
        let change: @Sendable (Object) -> Void
        var changeBack: (@Sendable (Object) -> Void)?
        var testDescription: String { name }
    }
}

extension TrackingTests.Fact<Operation> {
    static var ofOperations: [Self] {
        let dependency = Operation()
        return [
            Self(name: "isCancelled") {
                _ = $0.isCancelled
            } change: {
                $0.cancel()
            },
            Self(name: "isExecuting") {
                _ = $0.isExecuting
            } change: {
                $0.start()
            },
            Self(name: "isFinished") {
                _ = $0.isFinished
            } change: {
                $0.start()
            },
            Self(name: "isReady") {
                _ = $0.isReady
            } change: {
                $0.addDependency(dependency)
            } changeBack: {
                $0.removeDependency(dependency)
            },
            Self(name: "dependencies") {
                _ = $0.dependencies
            } change: {
                $0.addDependency(dependency)
            } changeBack: {
                $0.removeDependency(dependency)
            },
            Self(name: "queuePriority") {
                _ = $0.queuePriority
            } change: {
                $0.queuePriority = .high
            } changeBack: {
                $0.queuePriority = .low
            },
            Self(name: "completionBlock") {
                _ = $0.completionBlock
            } change: {
                $0.completionBlock = {}
            } changeBack: {
                $0.completionBlock = nil
            },
            Self(name: "name") {
                _ = $0.name
            } change: {
                $0.name = "new"
            } changeBack: {
                $0.name = nil
            },
            Self(name: "qualityOfService") {
                _ = $0.qualityOfService
            } change: {
                $0.qualityOfService = .utility
            } changeBack: {
                $0.qualityOfService = .background
            },
        ]
    }
}

extension TrackingTests.Fact<OperationQueue> {
    static var ofQueues: [Self] {
        [
            Self(name: "isSuspended") {
                _ = $0.isSuspended
            } change: {
                $0.isSuspended = false
            } changeBack: {
                $0.isSuspended = true
            },
            Self(name: "maxConcurrentOperationCount") {
                _ = $0.maxConcurrentOperationCount
            } change: {
                $0.maxConcurrentOperationCount = 3
            } changeBack: {
                $0.maxConcurrentOperationCount = 2
            },
            Self(name: "name") {
                _ = $0.name
            } change: {
                $0.name = "new"
            } changeBack: {
                $0.name = "old"
            },
            Self(name: "qualityOfService") {
                _ = $0.qualityOfService
            } change: {
                $0.qualityOfService = .utility
            } changeBack: {
                $0.qualityOfService = .background
            },
            Self(name: "operationCount") {
                _ = $0.value(forKey: "operationCount")
            } change: {
                $0.addOperation {}
            },
            Self(name: "operations") {
                _ = $0.value(forKey: "operations")
            } change: {
                $0.addOperation {}
            },
        ]
    }
}
