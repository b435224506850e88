import DurableCore
import DurableTool
import Testing

@Suite struct SelectionTests {
    private func filter(_ edit: (inout Selection) -> Void) throws -> DurableFilter {
        var selection = Selection()
        edit(&selection)
        return try selection.filter(mustLimit: true)
    }

    @Test func `R36: a selection is a filter of states, queue, name, age and identifiers`() throws {
        let found = try filter {
            ($0.ids, $0.states, $0.queue, $0.name) = (["7", "9"], ["failed,crashed", "ready"], "mail", "--letter")
            ($0.older, $0.newer) = ("1h", "2d")
        }
        #expect(found.ids == [OperationID(7), OperationID(9)])
        #expect(found.states == [.failed, .crashed, .ready])
        #expect(found.queue == "mail" && found.name == "--letter")
        #expect(found.minimumAge == .seconds(3_600) && found.maximumAge == .seconds(172_800))
    }

    @Test func `R36: a change of all operations needs the word`() throws {
        #expect(throws: Selection.Mistake.self) { try filter { _ in } }
        #expect(try filter { $0.isAll = true } == DurableFilter())
        #expect(throws: Selection.Mistake.self) { try filter { ($0.isAll, $0.queue) = (true, "mail") } }
        #expect(try Selection().filter(mustLimit: false) == DurableFilter())
    }

    @Test(arguments: ["0", "-1", "1.0", "x", "", " 1", "99999999999999999999", "#3"])
    func `R36: an identifier is a number above zero`(_ text: String) {
        #expect(throws: Selection.Mistake.self) { try filter { $0.ids = [text] } }
    }

    @Test func `R36: unknown states and ages are mistakes that name the choices`() {
        #expect { try filter { $0.states = ["done"] } } throws: { "\($0)".contains("awaiting-signal") }
        #expect { try filter { $0.states = ["failed,"] } } throws: { "\($0)".contains("'failed,'") }
        #expect { try filter { $0.older = "soon" } } throws: { "\($0)".contains("--older") }
    }

    @Test func `R36: each state has one name, and two words name the states with and without an outcome`() {
        for state in DurableState.allCases { #expect(StateNames.states(StateNames.name(state)) == [state]) }
        #expect(StateNames.states("unfinished")?.count == 7 && StateNames.states("ended")?.count == 5)
        #expect(StateNames.states("unfinished,ended") == Set(DurableState.allCases))
    }

    @Test func `R36: a rate is a number and a time`() {
        #expect(RateText.rate("10/1s") == RateRule(10, per: .seconds(1)))
        #expect(RateText.rate("100/1h30m").map(RateText.text) == "100/1h30m")
        for text in ["10", "/1s", "0/1s", "10/0s", "10/1s/2", "x/1s", ""] { #expect(RateText.rate(text) == nil) }
    }

    @Test func `R36: each change names the states that permit it`() {
        #expect(ChangeKind.retry.refusal(of: .crashed) == nil)
        #expect(ChangeKind.discard.refusal(of: .running)?.contains("awaiting-signal") == true)
        #expect(ChangeKind.delete.refusal(of: .ready)?.hasPrefix("is ready; delete needs") == true)
        for kind in ChangeKind.allCases { #expect(kind.states.allSatisfy { kind.refusal(of: $0) == nil }) }
    }

    @Test func `R36: a change of more than one operation needs a confirmation`() {
        #expect(!ChangeKind.mustAsk(1, isConfirmed: false) && ChangeKind.mustAsk(2, isConfirmed: false))
        #expect(!ChangeKind.mustAsk(100_000, isConfirmed: true))
    }
}
