import Glibc
import Testing

@testable import WorkflowEngine

struct RunJournalTests {
    @Test func `the files that a failed command has made are removed, and others stay`() throws {
        let directory = try TemporaryDirectory(files: ["kept/old", "mine", "read"])
        var settings = OperationSettings()
        settings.outputs = ["new", "mine", "read", "kept", "*.glob"]
        let operation = PlannedOperation(
            name: "a", command: "false", directory: directory.path, queue: "q", settings: SettingsBox(settings))
        var reading = OperationSettings()
        reading.inputs = ["read"]
        let other = PlannedOperation(
            name: "b", command: "true", directory: directory.path, queue: "q", settings: SettingsBox(reading))
        let plan = WorkflowPlan(
            name: nil, queues: [], operations: [operation, other], possibleOrder: [0, 1], describedCount: 2,
            hasFamilies: false, settings: WorkflowSettings(), directory: directory.path)
        let journal = RunJournal(of: plan, in: nil, isForced: false, resumes: false)
        func exists(_ name: String) -> Bool { access(directory.path + "/" + name, F_OK) == 0 }
        for outcome in [Outcome.failed(.exit(1)), .cancelled] {
            let prepared = journal.prepare(0).prepared
            for name in ["new", "kept/new", "x.glob"] { close(creat(directory.path + "/" + name, 0o600)) }
            let (settled, record) = journal.settle(0, prepared, outcome)
            #expect(settled == outcome)
            #expect(record.end == (outcome == .cancelled ? .cancelled : .failed))
            #expect(!exists("new"))
            #expect(["kept/old", "kept/new", "mine", "read", "x.glob"].allSatisfy(exists))
        }
    }

    @Test func `a command that succeeds without a declared output fails, and its other outputs are removed`() throws {
        let directory = try TemporaryDirectory()
        var settings = OperationSettings()
        settings.outputs = ["one", "two"]
        let operation = PlannedOperation(
            name: "a", command: "true", directory: directory.path, queue: "q", settings: SettingsBox(settings))
        let plan = WorkflowPlan(
            name: nil, queues: [], operations: [operation], possibleOrder: [0], describedCount: 1, hasFamilies: false,
            settings: WorkflowSettings(), directory: directory.path)
        let journal = RunJournal(of: plan, in: nil, isForced: false, resumes: false)
        let prepared = journal.prepare(0).prepared
        close(creat(directory.path + "/one", 0o600))
        #expect(journal.settle(0, prepared, .succeeded).0 == .failed(.missingOutput("two")))
        #expect(access(directory.path + "/one", F_OK) != 0)
    }
}
