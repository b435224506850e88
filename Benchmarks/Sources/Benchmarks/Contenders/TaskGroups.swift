import Dispatch

/// Child tasks of a discarding task group. A task adds them, and the main thread waits for that task.
enum TaskGroups {
    static func addOneByOne(_ count: Int) -> Double {
        Tally.nanoseconds(perOperationOf: count) { tally in run(count, of: tally.block) }
    }

    static func run(_ count: Int, of block: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await withDiscardingTaskGroup { group in
                for _ in 0..<count { group.addTask { block() } }
            }
            done.signal()
        }
        done.wait()
    }

    /// Runs async child tasks with a limit: the next child is added when one has ended.
    static func run(_ count: Int, atMost width: Int, of work: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    if index >= width { await group.next() }
                    group.addTask { await work() }
                }
            }
            done.signal()
        }
        done.wait()
    }
}
