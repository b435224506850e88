import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct SlurmFolderTests {
    @Test func `a later opq finds the tasks, those of later runs last, and the folder can be removed`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let store = try RunStore(of: directory.path + "/w.yml")
        #expect(!SlurmFolder.exists(in: store))
        let folder = try SlurmFolder(in: store)
        let plan = try plan(of: "operations: {a: {run: x, each: [1, 2]}}", base: directory.path)
        var places: [SlurmPlace] = []
        for (run, operation) in zip([10, 9], plan.operations) {
            let place = SlurmPlace(batch: try folder.makeBatch(run: run), index: 4)
            places.append(place)
            try folder.write(
                ExecutedCommand(
                    operation: operation, token: ProcessWatch.Token(number: 1), spool: SpoolDirectory().makeSpool(),
                    started: { _ in }, ended: { _, _ in }), at: place)
        }
        #expect(
            folder.left == [
                SlurmFolder.Left(place: places[1], name: "a[2]", state: ""),
                SlurmFolder.Left(place: places[0], name: "a[1]", state: ""),
            ])
        #expect(SlurmFolder.run(of: places[0].batch) == 10)
        #expect(folder.files(of: places[0]) == SlurmTask.Files())
        #expect(folder.withdraw(places[0]) && folder.withdraw(places[0]))
        #expect(folder.left.map(\.isWithdrawn) == [false, true])
        for place in places { folder.remove(place.batch) }
        folder.removeIfEmpty()
        #expect(!SlurmFolder.exists(in: store))
    }
}
