import OperationsDurable

extension Row {
    static let addOneByOne = Row(
        number: 1, question: "add one by one from 16 tasks", small: [10_000], full: [10_000]
    ) { backend, count in
        let bare = try backend.newBareLoop()
        let bareTime = try ContinuousClock().measure { try bare.add(count, batch: 16) }
        let queue = DurableQueue("q", in: try await backend.newStore())
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { for _ in 0..<count / 16 { try await queue.add(Nothing()) } }
                }
                try await group.waitForAll()
            }
        }
        return [Measurement(count / 16 * 16, in: time, bareTime: bareTime, atLeast: 0.4)]
    }

    static let addInBatches = Row(
        number: 2, question: "add in batches of 256", small: [50_000], full: [100_000]
    ) { backend, count in
        let bare = try backend.newBareLoop()
        let bareTime = try ContinuousClock().measure { try bare.add(count, batch: 256) }
        let queue = DurableQueue("q", in: try await backend.newStore())
        let time = try await ContinuousClock().measure { try await queue.fill(count) }
        return [Measurement(count, in: time, bareTime: bareTime, atLeast: 0.5)]
    }
}
