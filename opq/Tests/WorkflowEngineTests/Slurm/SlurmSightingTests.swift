import Testing

@testable import WorkflowEngine

struct SlurmSightingTests {
    @Test func `a line of squeue has the place, the identifier, the state and the reason of a task`() {
        #expect(
            SlurmSighting(line: "opq:7-abc|3|52_3|PENDING|Dependency (x|y)")
                == SlurmSighting(
                    place: SlurmJobPlace(batch: "7-abc", index: 3), identifier: "52_3", state: "PENDING",
                    reason: "Dependency (x|y)"))
        #expect(SlurmSighting(line: "opq:7-abc|N/A|9|COMPLETED|None")?.place == SlurmJobPlace(batch: "7-abc", index: 0))
    }

    @Test(arguments: ["(null)|N/A|1|RUNNING|None", "mine: x|N/A|1|RUNNING|None", "opq:1|2", ""])
    func `jobs of others are no sightings`(line: String) {
        #expect(SlurmSighting(line: line[...]) == nil)
    }

    @Test func `a task finds its job by the name of its batch`() {
        let alone = SlurmPlace.batch(run: 7, share: 1)
        let shared = SlurmPlace.batch(run: 7, share: 50)
        #expect(SlurmPlace(batch: alone, index: 3).job == SlurmJobPlace(batch: alone, index: 3))
        #expect(SlurmPlace(batch: shared, index: 49).job == SlurmJobPlace(batch: shared, index: 0))
        #expect(SlurmPlace(batch: shared, index: 150).job == SlurmJobPlace(batch: shared, index: 3))
        #expect([0, 1, 49].map { SlurmPlace(batch: "7-x-\($0)", index: 0).share } == [1, 1, 49])
    }

    @Test func `a job that completes still runs, and an unknown state counts as live`() {
        let place = SlurmJobPlace(batch: "1-a", index: 0)
        func isLive(_ state: String) -> Bool { SlurmSighting(place: place, state: state).isLive }
        #expect(["PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "FUTURE_STATE"].allSatisfy(isLive))
        #expect(!["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"].contains(where: isLive))
    }
}
