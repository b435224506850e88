import Testing

@testable import WorkflowEngine

struct SyntaxTests {
    @Test(arguments: ["1:30", "1:0:0:0:0:0:0:0:0:0:0:0", "190:20:30"])
    func `a number in base 60 is no whole number`(number: String) {
        let text = "queues: {q: {concurrency: \(number)}}\noperations: {a: {run: x, queue: q}}"
        #expect(
            complaints(about: text) == [
                "w:1:27: error: 'concurrency' must be a whole number, found the number \(number); "
                    + "write it in decimal digits, without a sign or a zero first"
            ])
    }

    @Test func `braces that are no placeholders are text, however many there are`() {
        #expect(Template("{item{item.name}{ item}{items}{item-x}{item.}").placeholders == ["item.name", "item."])
        let braces = String(repeating: "{", count: 100_000) + "{item}"
        #expect(Template(braces).placeholders == ["item"])
        #expect(Template(String(repeating: "{item", count: 100_000)).placeholders.isEmpty)
    }

    @Test func `a correct workflow has no errors`() {
        #expect(complaints(about: "operations: {a: {run: x}, b: {run: y, after: a}}") == [])
    }

    @Test func `all errors are reported together in the order of the file`() {
        let text = """
            nmae: x
            queues:
              q: {concurrency: 0, quality: utilty}
            operations:
              a: {rnu: x}
              b: {run: y, after: c, queue: p}
            """
        #expect(
            complaints(about: text) == [
                "w:1:1: error: unknown key 'nmae' in the workflow; did you mean 'name'?",
                "w:3:20: error: 'concurrency' must be 1 or more, found 0; leave it out for one operation per processor",
                "w:3:32: error: unknown quality 'utilty'; did you mean 'utility'?",
                "w:5:3: error: operation 'a' has no 'run'; give it the shell command to run",
                "w:5:7: error: unknown key 'rnu' in operation 'a'; did you mean 'run'?",
                "w:6:22: error: unknown operation 'c'; did you mean 'a'?",
                "w:6:32: error: unknown queue 'p'; did you mean 'q'?",
            ])
    }

    @Test func `the error of a wrong type names the expected and the actual type`() {
        let text = """
            queues: {q: {concurrency: two}}
            operations:
              a: {run: [], barrier: maybe, after: {b: c}, environment: [1]}
              b: {run: 5, directory: , each: {}}
              c: hello
            """
        #expect(
            complaints(about: text) == [
                "w:1:27: error: 'concurrency' must be a whole number, found the string 'two'",
                "w:3:12: error: 'run' lists no program; give it a program and its arguments",
                "w:3:25: error: 'barrier' must be true or false, found the string 'maybe'",
                "w:3:39: error: 'after' must be a string or a list of strings, found a map",
                "w:3:60: error: 'environment' must be a map, found a list",
                "w:4:12: error: 'run' must be a string, found the number 5; put it in quotes",
                "w:4:15: error: 'directory' must be a string, found nothing",
                "w:4:34: error: 'each' names no source; give it files, lines or command",
                "w:5:6: error: operation 'c' must be a map, found the string 'hello'; "
                    + "its keys are \(KeyTable.operation.names.joined(separator: ", "))",
            ])
    }

    @Test func `duplicate keys are reported together with other errors`() {
        let text = """
            operations:
              "a": {run: x}
              a:
                run: y
                run: z
                run: z
              b: {run: {item}}
            """
        #expect(
            complaints(about: text) == [
                "w:3:3: error: duplicate key 'a'; line 2 contains it already: keep one of them",
                "w:5:5: error: duplicate key 'run'; line 4 contains it already: keep one of them",
                "w:6:5: error: duplicate key 'run'; line 4 contains it already: keep one of them",
                "w:7:12: error: 'run' must be a string, found a map; put it in quotes",
            ])
    }

    @Test func `lines may end with a carriage return and a line feed`() {
        #expect(
            complaints(about: "operations:\r\n  a: {run: x}\r\n  a: {run: y, after: b}\r\n") == [
                "w:3:3: error: duplicate key 'a'; line 2 contains it already: keep one of them",
                "w:3:22: error: unknown operation 'b'; did you mean 'a'?",
            ])
    }

    @Test(arguments: [
        ("", "w:1:1: error: the workflow is empty; give it operations:"),
        (
            "- a",
            "w:1:1: error: the workflow must be a map, found a list; "
                + "its keys are \(KeyTable.workflow.names.joined(separator: ", "))"
        ),
        ("name: x", "w:1:1: error: the workflow has no 'operations'; add operations:"),
        ("operations: {}", "w:1:1: error: 'operations' holds no operation; give it at least one"),
        (
            "operations:\n  a: [",
            "w:3:1: error: invalid YAML: while parsing a flow node, did not find expected node content"
        ),
        ("a: \u{1}", "w:1:4: error: invalid YAML: control characters are not allowed"),
    ])
    func `text that is not a workflow is reported`(text: String, complaint: String) {
        #expect(complaints(about: text) == [complaint])
    }

    @Test func `the name of an environment variable is checked`() {
        #expect(
            complaints(about: "operations: {a: {run: x, environment: {1A: x, \"B=\": y, C: 1, D: true}}}") == [
                "w:1:40: error: '1A' cannot name an environment variable; "
                    + "use letters, digits and underscores, with no digit first",
                "w:1:47: error: 'B=' cannot name an environment variable; "
                    + "use letters, digits and underscores, with no digit first",
            ])
    }

    @Test func `anchors and aliases share values`() throws {
        let text = """
            operations:
              a: {run: x, each: &items [p, q]}
              b: {run: y, each: *items, after: "a[{item}]"}
            """
        #expect(try plan(of: text).operations.map(\.dependencies) == [[], [], [0], [1]])
    }

    @Test(arguments: ["A B", "é", "A-B", "²", "A\u{301}"])
    func `only letters, digits and underscores of ASCII name a variable`(name: String) {
        let complaints = complaints(about: "operations: {a: {run: x, environment: {\"\(name)\": x}}}")
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("cannot name an environment variable") == true)
    }

    @Test func `the variables of an item cannot be set`() {
        #expect(
            complaints(about: "operations: {a: {run: x, environment: {OPQ_ITEM: x}}}") == [
                "w:1:40: error: 'OPQ_ITEM' is set by opq; use another name"
            ])
    }

    @Test func `a NUL character is refused`() {
        #expect(
            complaints(about: #"operations: {a: {run: "echo \0 x", each: ["a\0b"], directory: "\0"}}"#).count == 3)
        #expect(
            complaints(about: #"operations: {a: {run: "echo \0 x"}}"#).first?
                .hasPrefix("w:1:23: error: 'run' holds a NUL character, where the rest would be cut off") == true)
    }

    @Test func `a command that is too long is refused`() {
        let long = String(repeating: "x", count: 131_072)
        #expect(
            complaints(about: "operations: {a: {run: \(long)}}") == [
                "w:1:23: error: the command of 'a' has 131072 bytes, and the system takes 131071; put it in a file, and run that"
            ])
        #expect(complaints(about: "operations: {a: {run: \(long.dropLast())}}") == [])
        #expect(complaints(about: "operations: {a: {run: x, environment: {A: \(long)}}}").count == 1)
    }

    @Test func `other faults of YAML are reported with a remedy`() {
        #expect(
            complaints(about: String(repeating: "[", count: 2000)).first?
                .contains("invalid YAML: lists and maps are nested too deeply") == true)
        #expect(
            complaints(about: "operations:\n  a: { run: tar xzf {item} }").first?
                .hasSuffix("; put a value that holds {, }, [, ], a comma, or a colon before a space in quotes") == true)
    }

    @Test func `thousands of duplicate keys are reported in one pass`() {
        let text = "operations:\n  a:\n    run: x\n" + String(repeating: "    priority: low\n", count: 5000)
        #expect(complaints(about: text).count == 4999)
    }

    @Test func `a key with exponentially many aliases is an ordinary error`() {
        let levels = (1...40).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.joined()
        let complaints = complaints(about: "a0: &a0 [x]\n\(levels)? *a40\n: x\noperations: {a: {run: x}}\n")
        #expect(complaints.last == "w:41:6: error: a key must be a name, found a list")
        #expect(complaints.count == 42)
    }

    @Test func `control characters cannot imitate a line of an error`() {
        #expect(
            complaints(about: #"operations: {a: {run: x, after: "b\n\e[31mw:1:1: error: x\u202e"}}"#) == [
                #"w:1:33: error: unknown operation 'b\n\u{1B}[31mw:1:1: error: x\u{202E}'; expected a"#
            ])
    }

    @Test func `a number in quotes is text`() {
        #expect(complaints(about: "operations: {a: {run: '5'}}") == [])
    }

    @Test func `the column of a forbidden character is counted in characters`() {
        #expect(complaints(about: "a: ü\u{1}").first?.hasPrefix("w:1:5: error: invalid YAML") == true)
    }
}
