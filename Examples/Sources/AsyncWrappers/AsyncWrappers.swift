import Dispatch
import Operations
import OperationsFoundation
import Synchronization

// Common wrappers around operation queues for async use, and their replacements.

/// Simulates a download.
func download(_ number: Int) async throws -> String {
    try await Task.sleep(for: .milliseconds(1))
    return "page \(number)"
}

/// A list of events in their order.
final class Log: Sendable {
    private let list = Mutex([String]())

    var entries: [String] { list.withLock { $0 } }

    func append(_ entry: String) { list.withLock { $0.append(entry) } }
}

/// Simulates work without suspensions.
func checksum(_ text: String) -> Int { text.utf8.reduce(0) { $0 &+ Int($1) } }

// MARK: - A continuation around addOperation

extension OperationQueue {
    /// Before.
    func value<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            addOperation { continuation.resume(returning: work()) }
        }
    }
}

func continuations(in queue: OperationQueue) async throws {
    let before = await queue.value { checksum("page") }
    let after = try await queue.run { checksum("page") }
    precondition(before == after)
    print("checksum:", after)
}

// MARK: - A state machine

/// Before.
final class OldDownload: Operation, @unchecked Sendable {
    private enum State { case ready, executing, finished }
    private let state = Mutex(State.ready)
    private let number: Int
    private(set) var result: Result<String, any Error>?

    init(_ number: Int) { self.number = number }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        guard !isCancelled else { return finish() }
        willChangeValue(forKey: "isExecuting")
        state.withLock { $0 = .executing }
        didChangeValue(forKey: "isExecuting")
        Task {
            do { result = .success(try await download(number)) } catch { result = .failure(error) }
            finish()
        }
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// After.
final class Download: AsyncOperation, @unchecked Sendable {
    // Sendable: `page` is written by `run()` and read after the end.
    private let number: Int
    private(set) var page: String?

    init(_ number: Int) { self.number = number }

    override func run() async throws { page = try await download(number) }
}

func stateMachines(in queue: OperationQueue) async throws {
    let before = OldDownload(1)
    let after = Download(1)
    await queue.addOperations([before, after], waitUntilFinished: true)
    let old = try before.result?.get()
    precondition(old == after.page)

    // If the class had only a result:
    let page = queue.addTask(name: "page 1") { try await download(1) }
    print("state machine:", try await page.value)
}

// MARK: - A semaphore as a limit

func semaphores() async throws {
    // Before: each operation keeps a thread blocked until its task is done.
    let old = OperationQueue()
    let slots = DispatchSemaphore(value: 4)
    let log = Log()
    for number in 1...10 {
        old.addOperation {
            slots.wait()
            let done = DispatchSemaphore(value: 0)
            Task {
                _ = try? await download(number)
                done.signal()
            }
            done.wait()
            slots.signal()
            log.append("\(number)")
        }
    }
    await old.waitUntilAllOperationsAreFinished()
    precondition(log.entries.count == 10)

    // After.
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    let pages = try await queue.map(1...10) { try await download($0) }
    print("width:", pages.count, "pages")
}

// MARK: - A task inside a block

func tasksInBlocks() async {
    let queue = OperationQueue()
    let log = Log()

    // Before: the operation ends as soon as the task has been created.
    let (network, arrives) = AsyncStream.makeStream(of: Void.self)
    let load = BlockOperation {
        Task {
            for await _ in network {}
            log.append("loaded")
        }
    }
    let show = BlockOperation { log.append("shown") }
    show.addDependency(load)
    await queue.addOperations([load, show], waitUntilFinished: true)
    print("after the block:", log.entries)
    arrives.finish()

    // After: the operation ends when its work ends.
    let page = queue.addTask { try await download(1) }
    let after = queue.addTask(after: [page]) { try await page.value }
    print("after the task:", (try? await after.value) ?? "nothing")
}

// MARK: - A chain of tasks

/// Before: each task waits for the previous task.
actor TaskLine {
    private var last: Task<Void, Never>?

    func add(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let task = Task { [last] in
            await last?.value
            await work()
        }
        last = task
        return task
    }
}

/// Before: a stream with one consumer.
struct WorkList {
    let add: AsyncStream<@Sendable () async -> Void>.Continuation
    let consumer: Task<Void, Never>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        add = continuation
        consumer = Task { for await work in stream { await work() } }
    }
}

func lines() async throws {
    let log = Log()
    let line = TaskLine()
    for number in 1...3 { _ = await line.add { log.append("\(number)") } }
    await line.add {}.value

    let list = WorkList()
    for number in 4...6 { list.add.yield { log.append("\(number)") } }
    list.add.finish()
    await list.consumer.value

    // After.
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    for number in 7...9 { queue.addTask { log.append("\(number)") } }
    await queue.waitUntilAllOperationsAreFinished()
    precondition(log.entries == (1...9).map(String.init))
    print("in line:", log.entries.joined(separator: ", "))
}

@main
struct AsyncWrappers {
    static func main() async throws {
        let queue = OperationQueue()
        try await continuations(in: queue)
        try await stateMachines(in: queue)
        try await semaphores()
        await tasksInBlocks()
        try await lines()
    }
}
