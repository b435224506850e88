import Glibc
import Testing

@testable import WorkflowEngine

struct LockTableTests {
    private let table = LockTable(
        text: """
            1: POSIX  ADVISORY  WRITE 11 fe:00:7 0 EOF
            2: FLOCK  ADVISORY  WRITE 12 fe:00:8 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 13 fe:00:8 0 EOF
            3: FLOCK  ADVISORY
            """)

    @Test func `only the holder of a lock by flock on the file has it`() {
        #expect(table.has(process: 12, file: 8))
        #expect(!table.has(process: 11, file: 7))
        #expect(!table.has(process: 13, file: 8))
        #expect(!table.has(process: 12, file: 7))
    }

    @Test func `a workflow runs while its store is open, and not before or after`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let file = directory.path + "/w.yml"
        #expect(!RunStore.isRunning(file))
        do {
            let store = try RunStore(of: file)
            let isRunning = RunStore.isRunning(file)
            withExtendedLifetime(store) {}
            #expect(isRunning)
        }
        #expect(!RunStore.isRunning(file))
    }
}
