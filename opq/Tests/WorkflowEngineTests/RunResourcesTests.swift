import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct RunResourcesTests {
    @Test func `operations share the totals of the file, and exclusive names`() async throws {
        let text = """
            resources: {slots: 4}
            operations:
              two: {run: "mkdir slot && rmdir slot", each: [1, 2, 3, 4, 5, 6], resources: {slots: 3}}
              one: {run: "mkdir name && rmdir name", each: [1, 2, 3, 4, 5, 6], exclusive: database}
            """
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory(), options: RunOptions(jobs: 8))
        #expect(outcomes.count == 12 && outcomes.values.allSatisfy { $0 == .succeeded })
    }

    @Test(
        arguments: [
            ("{gpu: 1}", "'a' needs 1 of 'gpu', which has no total; add resources: { gpu: 1 } at the top of the file"),
            ("{memory: 2GB}", "'a' needs 2000000000 of 'memory', and the total is 1000"), ("{memory: 1000}", nil),
            ("{slots: 9}", "'a' needs 9 of 'slots', and the total is 4"), ("{slots: 0}", nil),
        ] as [(String, String?)])
    func `a need without a total, or above it, is refused before the run`(needs: String, text: String?) throws {
        let plan = try plan(of: "resources: {slots: 4}\noperations: {a: {run: x, resources: \(needs)}}")
        do {
            _ = try RunResources(plan, memory: 1000)
            #expect(text == nil)
        } catch {
            #expect(error.description == text)
        }
    }
}
