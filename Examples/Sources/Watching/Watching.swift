import OperationsFoundation
import OperationsTesting
import OperationsTimeline
import Synchronization

// Events, snapshots, stall reports and traces of a queue, and tests in virtual time.

struct Lost: Error {}

@main
struct Watching {
    static func main() async throws {
        await events()
        snapshots()
        stall()
        try trace()
        steps()
        explore()
    }

    /// Prints the events of a queue.
    static func events() async {
        let queue = OperationQueue()
        queue.name = "pages"
        let events = queue.events
        queue.addTask(name: "fetch") { await Task.yield() }
        for await event in events {
            switch event.kind {
            case .added: print(event.operation, "was added")
            case .ready: print(event.operation, "is ready")
            case .started: print(event.operation, "starts")
            case .finished(let outcome, let waited, let ran):
                precondition(waited >= .zero && ran! >= .zero)
                print(event.operation, outcome!)
                return
            case .cancelled, .stalled: fatalError("\(event)")
            }
        }
    }

    /// Prints snapshots of a queue, and explains why an operation waits.
    static func snapshots() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.name = "pages"
        queue.maxConcurrentOperationCount = 1
        let clock = VirtualClock()
        let fetch = queue.addTask(name: "fetch") { try await clock.sleep(for: .seconds(1)) }
        let parse = queue.addTask(name: "parse", after: [fetch]) {}
        queue.addTask(name: "clean") {}
        executor.runUntilIdle()
        print(queue.snapshot())
        print(queue.explain(parse))
        executor.runUntilIdle(advancing: clock)
        print(queue.snapshot())
    }

    /// Prints the report of a queue in which no operation can start.
    static func stall() {
        let queue = OperationQueue()
        queue.name = "ring"
        let first = BlockOperation {}
        let second = BlockOperation {}
        (first.name, second.name) = ("first", "second")
        first.addDependency(second)
        second.addDependency(first)
        queue.addOperations([first, second], waitUntilFinished: false)
        print(queue.stallReport()!)
        first.cancel()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Writes a timeline for a trace viewer and one for a browser.
    static func trace() throws {
        let trace = OperationTimeline()
        let queue = OperationQueue()
        queue.name = "pages"
        trace.record(queue)
        queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
        let json = try trace.chromeTrace()  // for Perfetto and chrome://tracing
        let page = trace.htmlTimeline(title: "Pages")  // for any browser
        precondition(!json.isEmpty && page.contains("<h1>Pages</h1>"))
        print("spans:", trace.spans.count)
    }

    /// Runs an hour of virtual time at once.
    static func steps() {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let recorder = OperationRecorder(clock)
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        recorder.record(queue)
        queue.addTask(name: "long") { try await clock.sleep(for: .seconds(3600)) }
        queue.addTask(name: "short") {}
        executor.step()
        let events = recorder.events.map { "\($0.event.shortName) \($0.event.kind)" }
        precondition(events == ["long added", "short added", "long starts"])
        executor.runUntilIdle(advancing: clock)
        print(recorder.timeline)
    }

    /// Finds a fault with a random order, and finds it again with the same seed.
    static func explore() {
        func increment(on executor: ManualExecutor) throws {
            let counted = Counted()
            let queue = executor.makeQueue()
            for _ in 0..<2 {
                queue.addTask {
                    let old = counted.counter.withLock { $0 }
                    await Task.yield()
                    counted.counter.withLock { $0 = old + 1 }  // the other operation may have counted meanwhile
                }
            }
            executor.runUntilIdle()
            guard counted.counter.withLock({ $0 }) == 2 else { throw Lost() }
        }
        do {
            try ManualExecutor.explore(seeds: 0..<100, increment)
            fatalError("not found")
        } catch {
            do { try increment(on: ManualExecutor(seed: error.seed)) } catch { return print("found, and found again") }
            fatalError("not found again")
        }
    }

    final class Counted: Sendable {
        let counter = Mutex(0)
    }
}
