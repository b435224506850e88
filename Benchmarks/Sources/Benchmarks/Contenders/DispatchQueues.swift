import Dispatch

/// A `DispatchQueue` with a `DispatchGroup`, which a program without operation queues would use.
enum DispatchQueues {
    static func addOneByOne(_ count: Int, to queue: DispatchQueue) -> Double {
        Tally.nanoseconds(perOperationOf: count) { tally in
            let group = DispatchGroup()
            let block = tally.block
            for _ in 0..<count { queue.async(group: group, execute: block) }
            group.wait()
        }
    }

    static func addFromThreads(_ threads: Int, each count: Int, to queue: DispatchQueue) -> Double {
        Tally.nanoseconds(perOperationOf: threads * count) { tally in
            let group = DispatchGroup()
            let block = tally.block
            onThreads(threads) {
                for _ in 0..<count { queue.async(group: group, execute: block) }
            }
            group.wait()
        }
    }

    static func roundTrips(_ count: Int, through queue: DispatchQueue) -> Double {
        Tally.nanoseconds(perOperationOf: count) { tally in
            let group = DispatchGroup()
            let block = tally.block
            for _ in 0..<count {
                queue.async(group: group, execute: block)
                group.wait()
            }
        }
    }

    static func run(_ count: Int, of block: @escaping @Sendable () -> Void, on queue: DispatchQueue) {
        let group = DispatchGroup()
        for _ in 0..<count { queue.async(group: group, execute: block) }
        group.wait()
    }
}
