#if Tracing
import InMemoryTracing
import Operations
import OperationsObservability
import OperationsTesting
import TestSupport
import Testing
import Tracing

@Suite(.timeLimit(.minutes(5))) struct TracingTests {
    private struct Failure: Error {}

    private let tracer = InMemoryTracer()
    private let executor = ManualExecutor()

    private func span(_ name: String) throws -> FinishedInMemorySpan {
        try #require(tracer.finishedSpans.first { $0.operationName == name })
    }

    private func named<Kind: Operation>(_ name: String, _ operation: Kind) -> Kind {
        operation.name = name
        return operation
    }

    @Test func `an operation is a span below the context of the code that added it`() throws {
        let queue = executor.makeQueue()
        queue.name = "work"
        queue.trace(with: tracer)
        tracer.withSpan("request") { _ in
            queue.addOperation(named("block", BlockOperation {}))
            queue.addOperation(named("task", TaskOperation { await Task.yield() }))
        }
        queue.addOperation(named("alone", BlockOperation {}))
        executor.runUntilIdle()
        let request = try span("request")
        for name in ["block", "task"] {
            #expect(try span(name).parentSpanID == request.spanID)
            #expect(try span(name).traceID == request.traceID)
            #expect(try span(name).attributes.get("operation.queue") == "work")
            #expect(try span(name).attributes.get("operation.outcome") == "succeeded")
        }
        #expect(try span("alone").parentSpanID == nil)
    }

    @Test func `spans of the work are below the operation's span, also after a suspension and in child tasks`()
        throws
    {
        let queue = executor.makeQueue()
        queue.trace(with: tracer)
        let tracer = tracer
        queue.addOperation(named("block", BlockOperation { tracer.withSpan("in block") { _ in } }))
        queue.addOperation(
            named(
                "task",
                TaskOperation {
                    await Task.yield()
                    tracer.withSpan("in task") { _ in }
                    async let child: Void = tracer.withSpan("in child") { _ in }
                    await child
                }))
        executor.runUntilIdle()
        #expect(try span("in block").parentSpanID == span("block").spanID)
        #expect(try span("in task").parentSpanID == span("task").spanID)
        #expect(try span("in child").parentSpanID == span("task").spanID)
    }

    @Test func `a failure is recorded, and an operation that was cancelled before its start has the outcome cancelled`()
        throws
    {
        let queue = executor.makeQueue()
        queue.trace(with: tracer)
        let failing = named("failing", TaskOperation { throw Failure() })
        let cancelled = named("cancelled", BlockOperation {})
        queue.addOperation(failing)
        queue.addOperation(cancelled)
        cancelled.cancel()
        executor.runUntilIdle()
        let span = try span("failing")
        #expect(span.errors.count == 1 && span.errors[0].error is Failure)
        #expect(span.status?.code == .error)
        #expect(span.attributes.get("operation.outcome") == "failed")
        #expect(try self.span("cancelled").attributes.get("operation.outcome") == "cancelled")
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func `a replaced or removed tracer completes the spans of current operations, with their context`()
        throws
    {
        for isReplaced in [true, false] {
            let (first, second) = (InMemoryTracer(), InMemoryTracer())
            let queue = executor.makeQueue()
            queue.maxConcurrentOperationCount = 1
            let instrument = queue.trace(with: first)
            let gate = AsyncGate()
            queue.addOperation(named("runs", TaskOperation { await gate.pass() }))
            queue.addOperation(named("waits", BlockOperation { first.withSpan("inside") { _ in } }))
            executor.runUntilIdle()
            if isReplaced { queue.trace(with: second) } else { instrument.remove() }
            queue.addOperation(named("later", BlockOperation {}))
            gate.open()
            while queue.snapshot().executing + queue.snapshot().waiting > 0 { executor.runUntilIdle() }
            #expect(first.activeSpans.isEmpty)
            #expect(first.finishedSpans.map(\.operationName) == ["runs", "inside", "waits"])
            #expect(first.finishedSpans[1].parentSpanID == first.finishedSpans[2].spanID)
            #expect(second.finishedSpans.map(\.operationName) == (isReplaced ? ["later"] : []))
        }
    }

    @Test func `nothing remains of tracers that were removed or replaced`() async {
        let queue = executor.makeQueue()
        var tracers: [Weak] = []
        for isRemoved in [true, false, true] {
            let part = Journal<Int>()
            tracers.append(Weak(part))
            let ids = InMemoryTracer.IDGenerator(
                nextTraceID: { "\(part.entries.count)" }, nextSpanID: { "\(part.entries.count)" })
            let instrument = queue.trace(with: InMemoryTracer(idGenerator: ids))
            queue.addOperation {}
            executor.runUntilIdle()
            if isRemoved { instrument.remove() }
        }
        queue.trace(with: tracer)
        for tracer in tracers { #expect(tracer.isGone) }
        #expect(queue.watcherCount == 1)
    }

    @Test func `a second tracer replaces the first, and after its removal there is no tracer`() throws {
        let queue = executor.makeQueue()
        let second = InMemoryTracer()
        let first = queue.trace(with: tracer)
        let instrument = queue.trace(with: second)
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(tracer.finishedSpans.isEmpty && second.finishedSpans.count == 1)
        first.remove()
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(second.finishedSpans.count == 2)
        instrument.remove()
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(second.finishedSpans.count == 2)
    }
}
#endif
