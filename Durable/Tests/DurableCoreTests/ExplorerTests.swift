import DurableCore
import DurableTesting
import Foundation
import Testing

@Suite struct ExplorerTests {
    /// The number of random programs.
    static let programs = Stress.rounds(600, small: 12)
    /// The first seed; `DURABLE_SEED` repeats one program.
    static let firstSeed = UInt64(ProcessInfo.processInfo.environment["DURABLE_SEED"] ?? "") ?? 1

    @Test func `the machine agrees with the naive reference in random programs`() async throws {
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.programs) { try await run(seed) }
    }

    /// - 1015: a cancelled operation requests a wait.
    /// - 248: another member of the batch holds the unique key of a child.
    /// - 415: a retried child waits for its parent through two barriers.
    @Test(arguments: [1015, 248, 415]) func `programs that once found a fault agree`(_ seed: UInt64) async throws {
        try await run(seed)
    }

    private func run(_ seed: UInt64) async throws {
        var explorer = Explorer(seed: seed)
        let rows = MemoryRows(now: Explorer.start)
        for _ in 0..<300 {
            // The thread belongs to all tests.
            await Task.yield()
            let (event, expected) = explorer.next()
            rows.now = explorer.reference.now
            var machine = explorer.machine(on: rows)
            let before = rows.tables.operations
            let reply = try machine.reply(to: event)
            if ProcessInfo.processInfo.environment["DURABLE_TRACE"] != nil { print(explorer.count, event, "->", reply) }
            if reply == .refused { #expect(rows.tables.operations == before, "seed \(seed): \(event)") }
            let sorted = rows.tables.operations.values.sorted { $0.id < $1.id }
            try explorer.compare(sorted, reply: reply, expected: expected, event: event)
            do { try rows.checkInvariants() } catch {
                throw ExplorerFailure(description: "seed \(seed), event \(explorer.count) \(event): \(error)")
            }
        }
    }
}
