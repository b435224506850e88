import DurableCore
import Testing

@Suite struct OperationRowTests {
    private func row(_ id: Int64, _ change: (inout OperationRow) -> Void = { _ in }) -> OperationRow {
        let now = DurableInstant(microseconds: 1)
        var row = OperationRow(
            id: OperationID(id), queue: QueueID(1), kind: KindID(1), epoch: 0, priority: .normal, state: .ready,
            readyAt: now, addedAt: now)
        change(&row)
        return row
    }

    @Test func `a run ends at the first operation that differs in more than its identifier`() {
        let rows = [row(1), row(2), row(3) { $0.priority = .high }, row(4) { $0.priority = .high }, row(5)]
        #expect(OperationRow.runs(rows).map { $0.map(\.id.rawValue) } == [[1, 2], [3, 4], [5]])
        #expect(OperationRow.runs([]).isEmpty)
    }

    @Test func `operations whose texts are equal and have other bytes are in two runs`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        for text in [\OperationRow.key, \.reason, \.context, \.signal] {
            let rows = [row(1) { $0[keyPath: text] = composed }, row(2) { $0[keyPath: text] = decomposed }]
            #expect(OperationRow.runs(rows).count == 2)
        }
    }
}
