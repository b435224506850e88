import Testing

@testable import WorkflowEngine

struct SuggesterTests {
    private func suggestion(for name: String, among names: [String]) -> String? {
        var suggester = Suggester()
        return suggester.suggestion(for: name, among: Suggester.Candidates(names))
    }

    @Test func `two exchanged letters are one typing error`() {
        #expect(suggestion(for: "rnu", among: ["run"]) == "did you mean 'run'?")
        #expect(suggestion(for: "nur", among: ["run"]) == "expected run")
    }

    @Test func `eight names are listed when none is near, and nine are not`() {
        let names = (1...9).map { "long-name-\($0)" }
        #expect(suggestion(for: "x", among: names) == nil)
        #expect(
            suggestion(for: "x", among: names.dropLast())
                == "expected one of " + names.dropLast().joined(separator: ", "))
    }

    @Test(arguments: [("/there", "/there"), ("here", "/base/here")])
    func `a relative directory is resolved against the file's directory`(name: String, path: String) throws {
        let plan = try plan(of: "operations: {a: {run: x, directory: \(name)}}", base: "/base")
        #expect(plan.operations.map(\.directory) == [path])
    }
}
