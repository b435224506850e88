import Testing

@testable import WorkflowEngine

struct SlurmGatheringTests {
    private func pause(_ keys: String, after time: Duration) throws -> Duration? {
        let plan = try plan(of: "operations: {a: {run: x, each: [1], \(keys)}}")
        let command = ExecutedCommand(
            operation: plan.operations[0], token: ProcessWatch.Token(number: 1), spool: SpoolDirectory().makeSpool(),
            started: { _ in }, ended: { _, _ in })
        return SlurmGathering.pause(command, after: time)
    }

    @Test func `opq waits longer for commands that share a job, and not without end`() throws {
        let (alone, shared) = (try pause("batch: 1", after: .zero), try pause("batch: 2", after: .zero))
        #expect(try #require(alone) < #require(shared))
        #expect(try pause("batch: 2", after: .milliseconds(1999)) == shared)
        #expect(try pause("batch: 2", after: .seconds(2)) == nil && pause("batch: 1", after: .seconds(2)) == nil)
    }
}
