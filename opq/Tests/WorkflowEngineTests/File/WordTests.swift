import Testing

@testable import WorkflowEngine

struct WordTests {
    @Test(arguments: [
        ("cmd", "run"), ("needs", "after"), ("env", "environment"), ("deps", "after"), ("dir", "directory"),
        ("cwd", "directory"), ("script", "run"), ("depends_on", "after"), ("prioriti", "priority"), ("Queue", "queue"),
        ("continue-on-error", "mayFail"), ("sources", "inputs"), ("keepoutputs", "keepOutputs"),
    ])
    func `a key of another tool gets the key that it means`(name: String, meant: String) {
        #expect(
            complaints(about: "operations: {a: {run: x, \(name): y}}") == [
                "w:1:26: error: unknown key '\(name)' in operation 'a'; did you mean '\(meant)'?"
            ])
    }

    @Test(arguments: [("env", "environment"), ("jobs", "operations"), ("variables", "vars"), ("queue", "queues")])
    func `a key of another tool for the file gets the key that it means`(name: String, meant: String) {
        #expect(
            complaints(about: "\(name): {}\noperations: {a: {run: x}}") == [
                "w:1:1: error: unknown key '\(name)' in the workflow; did you mean '\(meant)'?"
            ])
    }

    @Test(arguments: [
        "operations:\n\ta: {run: x}\n", "operations:\n  a:\n  \trun: x\n", "operations:\n\n  é:\n \t  run: x\n",
    ])
    func `a tab in the indentation is named`(text: String) {
        let complaints = complaints(about: text)
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("\t") }! + 1
        #expect(complaints.count == 1)
        #expect(
            complaints[0].hasSuffix("error: line \(line) is indented by a tab; YAML permits spaces only"),
            "\(complaints)")
    }

    @Test(arguments: [
        ("operations: { b: { run: echo hi: there } }", "a comma, or a colon before a space in quotes"),
        ("operations:\n  b:\n    run: echo hi: there", "put a value that holds a colon before a space in quotes"),
        ("operations:\n  b:\n    run: [ -f x ] && y", "put the whole value in quotes"),
        ("operations:\n  b:\n    run: \"a\" b", "put the whole value in quotes"),
        ("operations:\n  b:\n    run: @a", "put the whole value in quotes"),
        ("operations:\n  b:\n    run: `a`", "put the whole value in quotes"),
        ("operations:\n  b:\n    run: *.c", "put the whole value in quotes"),
    ])
    func `a command that needs quotes in YAML gets this remedy`(text: String, remedy: String) {
        let complaints = complaints(about: text)
        #expect(complaints.count == 1)
        #expect(complaints[0].hasSuffix(remedy), "\(complaints)")
    }

    @Test func `an empty name is an error`() {
        #expect(complaints(about: "operations: {'': {run: x}}").first == "w:1:14: error: a name is empty")
        #expect(complaints(about: "queues: {'': }\noperations: {a: {run: x}}") == ["w:1:10: error: a name is empty"])
    }

    @Test(arguments: [
        ("/dev/stdin", true), ("/dev/fd/0", true), ("/proc/self/fd/0", true), ("/proc/12/task/13/fd/4", true),
        ("/dev/stdin/", true), ("/dev/fd/x", false), ("dev/stdin", false), ("/home/dev/fd/0", false),
        ("/dev/null", false),
        ("w.yml", false),
    ])
    func `a path may name a descriptor`(path: String, isDescriptor: Bool) {
        #expect(WorkflowFile.namesDescriptor(path) == isDescriptor)
    }
}
