import Operations
import TestSupport
import Testing

/// A way in which an operation finishes before its queue has started it.
enum EarlyFinish: String, CaseIterable, Codable, Sendable {
    case whileSuspended, behindDependency, insideCancel, insideIsReadyWhileAdded, insidePriorityWhileAdded
    case insideIsReadyInBatch, insideIsReadyAfterDependency

    /// Makes it happen once.
    func happen() {
        let queue = OperationQueue()
        queue.name = "early"
        let bird = EarlyBird()
        bird.name = "bird"
        let dependency = Operation()
        switch self {
        case .whileSuspended:
            queue.isSuspended = true
            queue.addOperation(bird)
            bird.finish()
        case .behindDependency:
            bird.addDependency(dependency)
            queue.addOperation(bird)
            bird.finish()
        case .insideCancel:
            queue.isSuspended = true
            let operation = FinishesInCancel()
            operation.name = "bird"
            queue.addOperation(operation)
            operation.cancel()
            operation.waitUntilFinished()
            return
        case .insideIsReadyWhileAdded:
            bird.whileAsked.withLock { $0 = { $0.finish() } }
            queue.addOperation(bird)
        case .insidePriorityWhileAdded:
            bird.whileAskedForPriority.withLock { $0 = { $0.finish() } }
            queue.addOperation(bird)
        case .insideIsReadyInBatch:
            bird.whileAsked.withLock { $0 = { $0.finish() } }
            queue.addOperations([Operation(), bird, Operation()], waitUntilFinished: false)
        case .insideIsReadyAfterDependency:
            bird.addDependency(dependency)
            queue.addOperation(bird)
            bird.whileAsked.withLock { $0 = { $0.finish() } }
            dependency.start()
        }
        bird.waitUntilFinished()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    var culprit: String { self == .insideCancel ? "FinishesInCancel" : "EarlyBird" }
}

/// Rule L10: the warning, on standard error or in the handler of the log. Each test runs in a separate process.
@Suite(.timeLimit(.minutes(5))) struct LifeEarlyFinishWarningTests {
    private static let text = " announced isFinished before queue 'early' started it"

    /// Rule L10.
    @Test(arguments: EarlyFinish.allCases) func `one warning is logged`(way: EarlyFinish) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [way] in
            way.happen()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let warnings = text.split(separator: "\n").filter { $0.contains(Self.text) }
        #expect(warnings == ["swift-operations: \(way.culprit) 'bird'\(Self.text)"])
    }

    /// Rule L10.
    @Test(arguments: EarlyFinish.allCases) func `the warning goes where the log is redirected to`(way: EarlyFinish)
        async
    {
        await #expect(processExitsWith: .success) { [way] in
            let log = Journal<String>()
            Operations.Log.redirect { log.append($0) }
            way.happen()
            Operations.Log.redirect(to: nil)
            guard log.entries == ["\(way.culprit) 'bird'\(Self.text)"] else { fatalError("\(log.entries)") }
        }
    }

    /// Rule L10.
    @Test func `no warning is logged for operations that the queue has started, or that are in no queue`() async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Self.finishProperly()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(!text.contains("announced isFinished"))
    }

    private static func finishProperly() {
        let queue = OperationQueue()
        let started = SpellingOperation()
        queue.addOperation(started)
        started.began.pass()
        started.finish()
        let cancelled = FinishesInCancel()
        queue.addOperation(cancelled)
        cancelled.began.pass()
        cancelled.cancel()
        let nowhere = SpellingOperation()
        nowhere.finish()
        let plain = CountingOperation()
        plain.addDependency(Operation())
        queue.addOperation(plain)
        plain.cancel()
        queue.waitUntilAllOperationsAreFinished()
        nowhere.waitUntilFinished()
    }
}
