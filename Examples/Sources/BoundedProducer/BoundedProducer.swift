// A server that takes jobs as fast as it can do them, and finishes its work when SIGTERM stops it.

import Dispatch
import Operations
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The jobs that arrive, without end.
struct Jobs: AsyncSequence {
    struct AsyncIterator: AsyncIteratorProtocol {
        var last = 0
        mutating func next() async -> Int? {
            last += 1
            // An operator stops the server after a while. Here the server stops itself.
            if last == 200 { kill(getpid(), SIGTERM) }
            await Task.yield()
            return last
        }
    }
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}

actor Counter {
    var done = 0
    func count() { done += 1 }
}

@main struct BoundedProducer {
    static func main() async {
        let (queue, counter) = (OperationQueue(name: "jobs", maxConcurrentOperationCount: 4), Counter())
        // The producer waits while 16 jobs are in the queue.
        queue.setCapacity(16)
        let stopped = AsyncStream.makeStream(of: Void.self)
        let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        // Without `@Sendable` the closures would belong to the main actor, and the process would stop on a thread of Dispatch.
        termination.setEventHandler { @Sendable in stopped.continuation.finish() }
        termination.setRegistrationHandler { @Sendable in stopped.continuation.yield() }
        termination.activate()
        var events = stopped.stream.makeAsyncIterator()
        _ = await events.next()
        #if canImport(Darwin)
        // On Linux the source installs a handler, which an ignored signal would not reach.
        signal(SIGTERM, SIG_IGN)
        #endif

        let producer = Task { () -> Int in
            var added = 0
            for await number in Jobs() {
                do {
                    try await queue.addTaskWaitingForCapacity(name: "job \(number)") {
                        try await Task.sleep(for: .milliseconds(1))
                        await counter.count()
                    }
                    added += 1
                } catch {
                    // The queue was shut down.
                    return added
                }
            }
            return added
        }
        _ = await events.next()
        let report = await queue.shutDown(grace: .seconds(10))
        let (added, done) = (await producer.value, await counter.done)
        print("added \(added), done \(done); \(report)")
        precondition(added == done && added >= 180 && report.isComplete)
        termination.cancel()
    }
}
