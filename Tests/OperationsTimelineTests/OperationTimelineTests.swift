import struct Foundation.Data
import class Foundation.JSONSerialization
import KeyValueObserving
import Operations
import OperationsTesting
import TestSupport
import Testing

@testable import OperationsTimeline

@Suite struct OperationTimelineTests {
    private func recorded() -> OperationTimeline {
        let trace = OperationTimeline()
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.name = "work & <play>"
        trace.record(queue)
        queue.addTask(name: "fine") { await Task.yield() }
        queue.addTask(name: "\"quoted\" <b>") { throw Expected() }
        let cancelled = BlockOperation {}
        cancelled.name = "cancelled"
        cancelled.cancel()
        queue.addOperation(cancelled)
        let apart = BlockOperation {}
        apart.name = "apart"
        trace.record(apart, asIn: "none")
        apart.start()
        executor.runUntilIdle()
        return trace
    }

    private struct Expected: Error {}

    @Test(.tags(.threads)) func `no observation remains of an operation that ends at the start of its recording`() {
        for _ in 0..<Stress.rounds(2000, least: 600) {
            let (trace, operation, meeting) = (OperationTimeline(), BlockOperation {}, Gate(2))
            let other = TestThread {
                meeting.meet()
                operation.start()
            }
            meeting.meet()
            trace.record(operation, asIn: "none")
            other.join()
            #expect(operation.keyValueRegistrar.observationCount == 0 && trace.spans.map(\.isSuccess) == [true])
        }
    }

    @Test(.tags(.threads)) func `a trace or recorder that is stopped at the start of a recording records nothing`() {
        for _ in 0..<Stress.rounds(2000, least: 500) {
            let (trace, recorder, queue) = (OperationTimeline(), OperationRecorder { .zero }, OperationQueue())
            let meeting = Gate(2)
            let other = TestThread {
                meeting.meet()
                trace.stop()
                recorder.stop()
            }
            meeting.meet()
            trace.record(queue)
            recorder.record(queue)
            other.join()
            // These recordings began after the calls of the other thread.
            trace.stop()
            recorder.stop()
            queue.addOperations([BlockOperation {}], waitUntilFinished: true)
            #expect(trace.spans.isEmpty && recorder.events.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `very many operations that ran at the same time in two queues have a lane each`() {
        func span(_ index: Int) -> OperationTimeline.Span {
            let time = Duration.nanoseconds(index)
            return .init(
                name: "", queue: "\(index % 2)", added: time, started: time, finished: .seconds(1) - time, outcome: "",
                isSuccess: true)
        }
        let each = Stress.rounds(50_000, least: 10_000)
        let lanes = Lanes((0..<2 * each).map(span), end: .seconds(2))
        #expect(lanes.queues.map(\.lanes) == [each, each])
        #expect(lanes.placed.enumerated().allSatisfy { $0.element.lane == $0.offset / 2 })
    }

    @Test func `a span takes the first lane that is free at its start`() {
        let times = [(0, 4), (1, 2), (2, 3), (2, 2), (4, 9), (5, 6)]
        let spans = times.map { start, end in
            OperationTimeline.Span(
                name: "", queue: "", added: .zero, started: .seconds(start), finished: .seconds(end), outcome: "",
                isSuccess: true)
        }
        let lanes = Lanes(spans, end: .zero)
        #expect(lanes.placed.map(\.lane) == [0, 1, 1, 2, 0, 1] && lanes.queues.map(\.lanes) == [3])
    }

    @Test func `a report of a hundred thousand queues lists each once`() {
        let spans = (0..<100_000).map { index in
            OperationTimeline.Span(
                name: "", queue: "\(index)", added: .zero, started: .zero, finished: .zero, outcome: "", isSuccess: true
            )
        }
        #expect(Lanes(spans, end: .zero).queues.count == 100_000)
    }

    @Test func `each operation has a span with its times and its outcome`() {
        let spans = recorded().spans
        #expect(spans.map(\.name) == ["fine", "\"quoted\" <b>", "cancelled", "apart"])
        #expect(spans.map(\.isSuccess) == [true, false, false, true])
        for span in spans {
            #expect(span.added <= span.started! && span.started! <= span.finished!)
        }
        #expect(spans[2].outcome == "was cancelled" && spans[1].outcome == "failed: Expected()")
    }

    @Test func `the trace is JSON with an event for each run, on lanes that do not overlap`() throws {
        let json = try JSONSerialization.jsonObject(with: recorded().chromeTrace()) as? [String: Any]
        let events = try #require(json?["traceEvents"] as? [[String: Any]])
        let runs = events.filter { $0["ph"] as? String == "X" }
        #expect(Set(runs.compactMap { $0["name"] as? String }) == ["fine", "\"quoted\" <b>", "cancelled", "apart"])
        #expect(events.filter { $0["ph"] as? String == "M" }.count == 2)
        let lanes = Dictionary(grouping: runs) { "\($0["pid"]!) \($0["tid"]!)" }
        for lane in lanes.values {
            let sorted = lane.map { ($0["ts"] as! Double, $0["dur"] as! Double) }.sorted { $0.0 < $1.0 }
            for (first, second) in zip(sorted, sorted.dropFirst()) { #expect(first.0 + first.1 <= second.0 + 0.001) }
        }
    }

    @Test func `the page is complete, escapes names, and loads nothing`() {
        let page = recorded().htmlTimeline(title: "A <title>")
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("</html>"))
        #expect(page.contains("A &lt;title&gt;") && page.contains("work &amp; &lt;play&gt;") && !page.contains("<b>"))
        #expect(!page.contains("src=") && !page.contains("http") && page.contains("1 failed"))
    }

    @Test func `a trace ends when it is stopped or released, and leaves nothing in queues`() {
        let queue = ManualExecutor().makeQueue()
        weak var gone: OperationTimeline?
        for _ in 0..<Stress.rounds(10_000, least: 3_000) {
            let trace = OperationTimeline()
            trace.record(queue)
            trace.record(BlockOperation {}, asIn: "none")
            gone = trace
        }
        #expect(gone == nil)
        let (stopped, other) = (OperationTimeline(), OperationTimeline())
        for trace in [stopped, other] { trace.record(queue) }
        queue.addOperation {}
        stopped.stop()
        queue.addOperation {}
        #expect(stopped.spans.count == 1 && other.spans.count == 2)
    }

    @Test func `a trace keeps the latest operations, up to its limit`() {
        let executor = ManualExecutor()
        let (queue, trace) = (executor.makeQueue(), OperationTimeline(limit: 10))
        trace.record(queue)
        for number in 0..<1000 {
            let operation = BlockOperation {}
            operation.name = "\(number)"
            queue.addOperation(operation)
            if number % 2 == 0 { executor.runUntilIdle() }
        }
        executor.runUntilIdle()
        #expect(trace.spans.map(\.name) == (990..<1000).map { "\($0)" } && trace.droppedSpanCount == 990)
        #expect(trace.spans.allSatisfy { $0.finished != nil })
    }

    @Test func `a queue that is recorded twice has each operation once`() {
        let executor = ManualExecutor()
        let (queue, trace) = (executor.makeQueue(), OperationTimeline())
        trace.record(queue)
        trace.record(queue)
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(trace.spans.count == 1 && trace.spans[0].finished != nil)
    }

    @Test func `an operation that is recorded by itself and with its queue has one span, also after its end`() {
        let executor = ManualExecutor()
        let (queue, trace) = (executor.makeQueue(), OperationTimeline())
        queue.name = "queue"
        trace.record(queue)
        let (first, second) = (BlockOperation {}, BlockOperation {})
        trace.record(first, asIn: "none")
        for operation in [first, second] { queue.addOperation(operation) }
        trace.record(second, asIn: "none")
        executor.runUntilIdle()
        for operation in [first, second] { trace.record(operation, asIn: "none") }
        #expect(trace.spans.map(\.queue) == ["none", "queue"])
        #expect(trace.spans.allSatisfy { $0.isSuccess && $0.started != nil && $0.finished != nil })
        #expect(first.keyValueRegistrar.observationCount == 0)
    }

    @Test func `a trace of queues observes no operation`() {
        let (queue, trace) = (ManualExecutor().makeQueue(), OperationTimeline())
        trace.record(queue)
        let operation = BlockOperation {}
        queue.addOperation(operation)
        #expect(operation.keyValueRegistrar.observationCount == 0 && trace.spans.count == 1)
    }

    @Test func `a trace that is stopped and starts again keeps both spans of an operation up to its limit`() {
        let trace = OperationTimeline(limit: 3)
        let operation = BlockOperation {}
        trace.record(operation, asIn: "before")
        trace.stop()
        trace.record(operation, asIn: "after")
        #expect(operation.keyValueRegistrar.observationCount == 2)
        for _ in 0..<2 { trace.record(BlockOperation {}, asIn: "other") }
        // The first span is dropped, and the second span still receives the end.
        #expect(trace.spans.map(\.queue) == ["after", "other", "other"] && trace.droppedSpanCount == 1)
        operation.start()
        #expect(trace.spans.map { $0.finished != nil } == [true, false, false])
        for _ in 0..<3 { trace.record(BlockOperation {}, asIn: "last") }
        #expect(trace.spans.map(\.queue) == ["last", "last", "last"] && trace.droppedSpanCount == 4)
        #expect(operation.keyValueRegistrar.observationCount == 0)
    }

    @Test func `an operation can be recorded without its queue after it has started or finished`() {
        let trace = OperationTimeline()
        let finished = BlockOperation {}
        finished.start()
        trace.record(finished, asIn: "none")
        let running = BlockOperation()
        running.addExecutionBlock { [unowned running] in trace.record(running, asIn: "none") }
        running.start()
        #expect(trace.spans.map { $0.finished != nil } == [true, true])
        #expect(trace.spans[1].started != nil)
    }

    @Test func `a running operation is not drawn as cancelled`() {
        let executor = ManualExecutor()
        let (queue, trace) = (executor.makeQueue(), OperationTimeline())
        trace.record(queue)
        queue.addTask { await Task.yield() }
        executor.step()
        let page = trace.htmlTimeline()
        #expect(page.contains("class=\"run unfinished\"") && !page.contains("class=\"run cancelled\""))
    }

    @Test func `the trace of operations that have not finished has no negative durations`() throws {
        let executor = ManualExecutor()
        let (queue, trace) = (executor.makeQueue(), OperationTimeline())
        queue.maxConcurrentOperationCount = 1
        trace.record(queue)
        queue.addOperation {}
        executor.runUntilIdle()
        queue.addTask { await Task.yield() }
        queue.addOperation {}
        executor.step()
        let json = try JSONSerialization.jsonObject(with: trace.chromeTrace()) as? [String: Any]
        let events = try #require(json?["traceEvents"] as? [[String: Any]])
        func times(_ phase: String) -> [Double] {
            events.filter { $0["ph"] as? String == phase }.compactMap { $0["ts"] as? Double }
        }
        let durations = events.compactMap { $0["dur"] as? Double }
        #expect(durations.count == 2 && durations.allSatisfy { $0 >= 0 })
        #expect(times("b").count == 3 && zip(times("b"), times("e")).allSatisfy { $0 <= $1 })
    }

    @Test func `a trace without operations produces an empty page and an empty trace`() throws {
        let trace = OperationTimeline()
        #expect(trace.htmlTimeline().contains("0 operations"))
        #expect(try String(decoding: trace.chromeTrace(), as: UTF8.self).contains("traceEvents"))
    }

    private struct Skip: OperationTimeline.Ending { let ending = "skipped: no reason" }

    @Test func `the table has custom outcomes, printed output, and the number of omitted rows`() throws {
        let trace = OperationTimeline()
        for index in 0..<30 {
            let operation = BlockOperation {}
            operation.name = "operation \(index)"
            trace.record(operation, asIn: "queue")
            if index == 7 { operation.reportFailure(Skip()) }
            operation.start()
        }
        let page = trace.htmlTimeline(title: "x", outputs: ["operation 7": "<it>", "operation 8": "not shown"])
        #expect(page.contains("<td>skipped: no reason</td>"))
        #expect(page.contains("<pre>&lt;it&gt;</pre>"))
        #expect(!page.contains("not shown"))
        #expect(page.contains("<caption>The 20 of 30 operations that ran longest"))
        #expect(page.contains("text-anchor=\"end\"") || !page.contains("x=\"1000\""))
        #expect(try String(decoding: trace.chromeTrace(title: "pack"), as: UTF8.self).contains(#""title":"pack""#))
    }
}
