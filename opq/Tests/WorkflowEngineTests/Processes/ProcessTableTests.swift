import Testing

@testable import WorkflowEngine

struct ProcessTableTests {
    @Test func `the name of a process may contain anything`() throws {
        let entry = try #require(ProcessTable.Entry("12 (a) R 1 (x) S 3 4 5 0 -1"))
        #expect((entry.identifier, entry.parent, entry.group, entry.session) == (12, 3, 4, 5))
        #expect(!entry.isDead)
        #expect(try #require(ProcessTable.Entry("12 (a) Z 3 4 5")).isDead)
        #expect(ProcessTable.Entry("12 (a)") == nil)
    }

    @Test func `a command has the processes of its group, and if wanted those of its session`() throws {
        let lines = ["7 (leader) S 1 7 7", "8 (left) S 1 8 7", "9 (dead) Z 1 7 7", "10 (far) S 1 10 10"]
        let table = ProcessTable(entries: try lines.map { try #require(ProcessTable.Entry($0)) })
        #expect(table.members(of: 7, inSession: false).map(\.identifier) == [7])
        #expect(table.members(of: 7, inSession: true).map(\.identifier) == [7, 8])
        #expect(table.children(of: 1, except: [7]).map(\.identifier) == [8, 10])
    }
}
