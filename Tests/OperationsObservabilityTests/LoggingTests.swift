#if Logging
import InMemoryLogging
import Logging
import Operations
import OperationsObservability
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoggingTests {
    private struct Failure: Error {}

    private let handler = InMemoryLogHandler()
    private let executor = ManualExecutor()

    private func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test", factory: { _ in handler })
        logger.logLevel = level
        return logger
    }

    private func queue() -> OperationQueue {
        let queue = executor.makeQueue()
        queue.name = "work"
        return queue
    }

    @Test func `each step of an operation is an entry with queue and operation`() throws {
        let queue = queue()
        queue.log(to: logger(.trace))
        let operation = BlockOperation {}
        operation.name = "one"
        queue.addOperation(operation)
        executor.runUntilIdle()
        #expect(
            handler.entries.map(\.message.description) == [
                "operation added", "operation ready", "operation started", "operation succeeded",
            ])
        for entry in handler.entries {
            #expect(entry.level == .debug)
            #expect(entry.metadata["queue"] == "work")
            #expect(entry.metadata["operation"] == "BlockOperation 'one'")
        }
        let last = try #require(handler.entries.last)
        #expect(try Double(#require(last.metadata["waited"]).description)! >= 0)
        #expect(try Double(#require(last.metadata["ran"]).description)! >= 0)
    }

    @Test func `failures are errors, cancellations are information, and a higher logger level omits other entries`() {
        let queue = queue()
        queue.log(to: logger(.info), level: .trace)
        let failing = queue.addTask { throw Failure() }
        queue.addOperation {}
        let cancelled = queue.addTask {}
        cancelled.cancel()
        executor.runUntilIdle()
        let entries = handler.entries.map { "\($0.level) \($0.message)" }
        #expect(
            entries.sorted() == [
                "error operation failed", "info operation cancellation requested",
                "info operation cancelled",
            ])
        #expect(handler.entries.first { $0.level == .error }?.metadata["error"] == "Failure()")
        withExtendedLifetime(failing) {}
    }

    @Test func `a stall is a warning with the reasons`() throws {
        let queue = OperationQueue()
        queue.name = "work"
        queue.log(to: logger(.warning))
        let notified = Gate()
        queue.stallHandler = { _ in notified.open() }
        queue.isSuspended = true
        queue.addOperation {}
        queue.stallDelay = .milliseconds(1)
        notified.pass()
        let entry = try #require(handler.entries.first)
        #expect(entry.level == .warning && entry.message == "queue stalled")
        #expect(entry.metadata["reasons"]?.description.contains("is suspended") == true)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `the warning of a stall lists the first operations, and counts all`() throws {
        let queue = OperationQueue()
        queue.log(to: logger(.warning))
        let notified = Gate()
        queue.stallHandler = { _ in notified.open() }
        queue.isSuspended = true
        for _ in 0..<1000 { queue.addOperation {} }
        queue.stallDelay = .milliseconds(1)
        notified.pass()
        let metadata = try #require(handler.entries.first?.metadata)
        #expect(metadata["blocked"] == "1000")
        guard case .array(let reasons)? = metadata["reasons"] else { return #expect(Bool(false)) }
        #expect(reasons.count == StallReport.describedOperations)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a removed logger receives no more entries`() {
        let queue = queue()
        let instrument = queue.log(to: logger(.trace))
        queue.addOperation {}
        executor.runUntilIdle()
        queue.isSuspended = true
        let waiting = BlockOperation {}
        queue.addOperation(waiting)
        let count = handler.entries.count
        instrument.remove()
        waiting.cancel()
        queue.isSuspended = false
        instrument.remove()
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(handler.entries.count == count)
    }
}
#endif
