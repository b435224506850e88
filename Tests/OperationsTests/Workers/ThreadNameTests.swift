#if os(Linux)
@testable import Operations
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The name of a worker's thread, which `ps`, debuggers and `/proc` show.
@Suite(.timeLimit(.minutes(5))) struct ThreadNameTests {
    /// Linux keeps 15 bytes of a name.
    @Test(arguments: [
        ("work", "work"), ("downloads of user 1", "downloads of us"), ("fifteen bytes !", "fifteen bytes !"),
        // `ö` has two bytes, and only one of them is among the first 15.
        ("a name with a ö", "a name with a "), (nil, "operation queue"),
    ])
    func `during an operation, the thread has the start of the queue's name, at most 15 bytes of whole characters`(
        name: String?, seen: String
    ) async {
        let (queue, names) = (OperationQueue(), Journal<String?>())
        queue.name = name
        queue.maxConcurrentOperationCount = 1
        queue.addOperation { names.append(ownName()) }
        queue.addBarrierBlock { names.append(ownName()) }
        queue.addTask {
            await Task.yield()
            names.append(ownName())
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(names.entries == [seen, seen, seen])
    }

    @Test func `another thread sees the names of all threads that run operations`() {
        let (meeting, end, threads) = (Gate(5), Gate(), Journal<(queue: String, thread: pid_t)>())
        let queues = (0..<4).map { number in
            let queue = OperationQueue()
            queue.name = "queue \(number)"
            queue.addOperation {
                threads.append(("queue \(number)", threadNumber()))
                meeting.open()
                end.pass()
            }
            return queue
        }
        meeting.meet()
        for (queue, thread) in threads.entries { #expect(name("/proc/self/task/\(thread)/comm") == queue) }
        end.open()
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }
}

// Swift does not import this.
@_silgen_name("gettid") private func threadNumber() -> pid_t

private func ownName() -> String? { name("/proc/thread-self/comm") }

private func name(_ path: String) -> String? { Processor.contents(of: path).map { String($0.dropLast()) } }
#endif
