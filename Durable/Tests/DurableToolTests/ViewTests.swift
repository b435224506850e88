import DurableTesting
import DurableTool
import Foundation
import OperationsDurable
import Testing

private struct Work: DurableOperation {
    static let name = "work"
    var text = ""
    func run(_ context: DurableContext) async throws {}
}

@Suite struct ViewTests {
    private func object(_ json: JSONText) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(json.line.utf8)) as? [String: Any])
    }

    @Test func `R36: a row and the JSON of an operation have its state, age and reason`() async throws {
        let store = MemoryStore()
        let queue = DurableQueue("q", in: store)
        let late = try await queue.add(Work(), options: DurableOptions(delay: .seconds(7_500)))
        let old = try await queue.add(Work(), options: DurableOptions(limitKey: "k"))
        try await store.discard([old.id], reason: "a\u{1B}b")
        store.advance(by: .seconds(3_600))
        let now = try await store.snapshot().instant
        let rows = try await store.records(matching: DurableFilter()).map { OperationView($0, now: now).row }
        #expect(rows[0] == ["\(late.id)", "scheduled", "q", "work", "1h", "", "starts in 1h 5m"])
        #expect(rows[1] == ["\(old.id)", "discarded", "q", "work", "1h", "", "a\u{1B}b"])
        let view = OperationView(try await store.record(of: old.id), now: now)
        let json = try object(.object(view.members))
        #expect(json["state"] as? String == "discarded" && json["limitKey"] as? String == "k")
        #expect(view.facts.contains(["reason", "a\u{1B}b"]) && view.facts.contains(["limit key", "k"]))
    }

    @Test func `R36: queues, limits, workers and counts have rows and JSON`() async throws {
        let store = MemoryStore()
        let queue = DurableQueue("q", in: store)
        try await queue.add(contentsOf: [Work(), Work(), Work()])
        try await queue.setLimit(4)
        try await queue.setRatePerKey(RateRule(2, per: .seconds(10)))
        try await queue.setLimit(1, forKey: "k")
        try await queue.suspend()
        try await store.commit { machine in
            let worker = try machine.register("w", kinds: ["work"], queues: ["q"], lease: .seconds(30))
            _ = try machine.claim(for: worker, slots: [("q", 1)], kinds: ["work"])
        }
        store.advance(by: .seconds(10))
        let snapshot = try await store.snapshot()
        #expect(
            QueueView.row(snapshot.queues[0], now: snapshot.instant) == [
                "q", "suspended", "3", "0", "0", "0", "0", "4", "10s",
            ])
        let keys = try await queue.keys()
        let limits = LimitView.rows(snapshot.queues[0], keys)
        #expect(limits == [["q", "-", "4", "-", "-", "2/10s", "0", "0"], ["q", "k", "1", "-", "", "", "0", "0"]])
        #expect(
            WorkerView.row(snapshot.workers[0], now: snapshot.instant).dropFirst() == [
                "w", "for 20s", "0", "q", "work",
            ])
        let stats = StatsView(snapshot, schedules: 2)
        #expect(
            stats.rows == [["work", "0", "3", "0", "0", "0", "0", "0"], ["all", "0", "3", "0", "0", "0", "0", "0"]])
        #expect(
            stats.summary == "1 worker; 1 queue, 1 suspended; 2 schedules; the oldest ready operation waits for 10s")
        let json = try object(stats.json)
        #expect(json["workers"] as? Int == 1 && (json["counts"] as? [String: Int])?["ready"] == 3)
        let names = try object(QueueView.json(snapshot.queues[0], now: snapshot.instant)).keys
        #expect(
            names.sorted() == [
                "counts", "limit", "limitPerKey", "name", "oldestReadyAt", "rate", "ratePerKey", "suspended",
            ])
    }
}
