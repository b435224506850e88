import Testing

@testable import WorkflowEngine

struct RunBoardTests {
    private let start = ContinuousClock.now

    private func board(_ text: String, seconds: [String: Int] = [:], jobs: Int = 2) throws -> RunBoard {
        let plan = try plan(of: text)
        return RunBoard(
            of: plan, jobs: jobs, durations: plan.operations.map { seconds[$0.name].map { .seconds($0) } })
    }

    private static let text = """
        operations:
          cc: { each: [a, b, c], run: "cc {item}" }
          link: { after: cc, run: "ld" }
          check: { after: link, run: "check" }
          notes: { run: "notes" }
        """

    private func start(_ name: String, _ board: inout RunBoard, at time: Int = 0) {
        let operation = board.rows.first { $0.operation.name == name }!.operation
        board.note(.started(operation), at: start + .seconds(time))
    }

    private func end(_ name: String, _ board: inout RunBoard, _ outcome: Outcome = .succeeded, at time: Int) {
        let conclusion = Conclusion(name: name, outcome: outcome, duration: .seconds(1))
        board.note(.ended(conclusion, nil), at: start + .seconds(time))
    }

    @Test func `each operation has its state, its times and the reason of its outcome`() throws {
        var board = try board(Self.text)
        start("cc[a]", &board, at: 1)
        start("cc[b]", &board, at: 2)
        end("cc[a]", &board, .failed(.exit(3)), at: 5)
        end("notes", &board, .upToDate, at: 5)
        end("link", &board, .skipped("dependency cc[a] failed"), at: 6)
        #expect(board.rows.map(\.state) == [.failed, .running, .waiting, .skipped, .waiting, .done])
        #expect(board.rows[0].began == start + .seconds(1) && board.rows[0].ended == start + .seconds(5))
        #expect(board.rows.map(\.note) == ["exit 3", "", "", "dependency cc[a] failed", "", "up to date"])
        #expect(board.rows[3].dependencies == [0..<3] && board.rows[4].dependencies == [3..<4])
        #expect(board.reason(for: 1).isEmpty && board.reason(for: 99).isEmpty)
        #expect(board.reason(for: 2) == "is about to start")
    }

    @Test func `the operations of a family that is found during the run follow the others`() throws {
        var board = try board(Self.text)
        let family = board.rows[5].operation
        let members = ["x", "y"].map {
            PlannedOperation(name: "notes[\($0)]", family: "notes", command: "", directory: ".", queue: "main")
        }
        board.note(.expanded(family, into: members), at: start)
        #expect(board.rows[5].state == .running && board.rows.count == 8)
        board.note(.started(members[1]), at: start)
        #expect(board.rows.suffix(2).map(\.state) == [.waiting, .running])
        #expect(board.reason(for: 6) == "waits for a place in its queue")
        end("notes[y]", &board, at: 2)
        board.note(.familyEnded(family), at: start)
        #expect(board.rows[7].state == .done && board.rows[5].state == .done)
    }

    @Test func `operations that never started are cancelled when the run has ended`() throws {
        var board = try board(Self.text)
        end("cc[a]", &board, at: 1)
        let conclusions = board.rows.map { row in
            Conclusion(name: row.operation.name, outcome: row.state == .done ? .succeeded : .cancelled)
        }
        let version = board.version
        board.end(
            with: RunResult(conclusions: conclusions, recordFailure: nil, wallTime: .zero, processorTime: .zero),
            at: start + .seconds(9))
        #expect(board.rows.map(\.state) == [.done] + Array(repeating: .cancelled, count: 5))
        #expect(board.rows[0].ended == start + .seconds(1) && board.version > version)
    }
}
