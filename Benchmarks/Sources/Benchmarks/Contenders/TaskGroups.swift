import Dispatch

/// Child tasks of a discarding task group, added by a task; the main thread waits for that one.
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
}
