import Testing

@testable import WorkflowEngine

struct SlurmSharersTests {
    private func job(_ identifier: String, _ state: String) -> SlurmSighting {
        SlurmSighting(place: SlurmJobPlace(batch: "1-a-2", index: 0), identifier: identifier, state: state)
    }

    @Test func `the first command that has not started, and whether all end`() {
        var sharers = SlurmSharers()
        sharers.add(index: 7, hasStarted: false, isEnding: true)
        #expect(sharers.head == 7 && sharers.allEnd)
        sharers.add(index: 5, hasStarted: true, isEnding: true)
        #expect(sharers.head == 7 && sharers.allEnd)
        sharers.add(index: 6, hasStarted: false, isEnding: false)
        sharers.add(index: 9, hasStarted: false, isEnding: true)
        #expect(sharers.head == 6 && !sharers.allEnd)
    }

    @Test func `a job that was submitted again does not concern the commands that the first one has started`() {
        let jobs = [job("1", "NODE_FAIL"), job("2", "PENDING")]
        #expect(SlurmSharers.sighting(in: jobs, starters: []) == jobs[1])
        #expect(SlurmSharers.sighting(in: jobs, starters: ["1"]) == jobs[0])
        #expect(SlurmSharers.sighting(in: [jobs[1]], starters: ["1"]) == nil)
        let twice = [job("1", "RUNNING"), job("2", "COMPLETED")]
        #expect(SlurmSharers.sighting(in: twice, starters: ["1", "2"]) == twice[0])
        #expect(SlurmSharers.sighting(in: [], starters: []) == nil)
    }
}
