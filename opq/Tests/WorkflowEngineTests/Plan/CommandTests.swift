import Testing

@testable import WorkflowEngine

struct CommandTests {
    @Test(arguments: [
        ("true", ["true"]), ("gcc -c a.c -o a.o", ["gcc", "-c", "a.c", "-o", "a.o"]), ("  a\tb \n", ["a", "b"]),
        ("cat \"$OPQ_ITEM\"", ["cat", "a $(b) 'c'"]), ("x --in=\"${OPQ_ITEM}\".gz", ["x", "--in=a $(b) 'c'.gz"]),
        ("x \"\" \"a b\"", ["x", "", "a b"]), ("x É", ["x", "É"]),
    ])
    func `a simple command needs no shell`(command: String, words: [String]) {
        #expect(CommandForm(command, variables: ["OPQ_ITEM": "a $(b) 'c'"]) == .simple(words))
    }

    @Test(arguments: [
        "a; b", "a | b", "a > b", "a $HOME", "a *", "a ?", "a [b]", "a ~", "a 'b'", "a \\b", "A=1 b", "cd x", "exit 3",
        "a &", "!",
        "a `b`", "a #b", "a {b,c}", "a\nb", "(a)", "export A", "a \"$HOME\"", "a \"b\\\"c\"", "a \"$OPQ_ITEM", "", "if",
        ". x",
        "kill 1", "a=b", "\"\" x", "a \"é\"", "a^b", "!a",
    ])
    func `a command with syntax of the shell, or of the shell itself, needs a shell`(command: String) {
        #expect(CommandForm(command, variables: ["OPQ_ITEM": "x"]) == .shell)
    }

    @Test func `a command whose search path is set needs a shell`() {
        #expect(CommandForm("true", variables: ["PATH": "/x"]) == .shell)
        #expect(CommandForm("/bin/true", variables: ["PATH": "/x"]) == .simple(["/bin/true"]))
    }

    @Test(arguments: [
        ("sh", "a; b", ["sh", "-c", "a; b"]), ("sh", "a\nb\n", ["sh", "-e", "-c", "a\nb\n"]),
        ("bash", "a | b", ["bash", "-o", "pipefail", "-c", "a | b"]),
        ("/bin/bash", "a\nb", ["/bin/bash", "-e", "-o", "pipefail", "-c", "a\nb"]),
        ("python3 -c", "print()", ["python3", "-c", "print()"]), ("python3", "print()", ["python3", "-c", "print()"]),
        ("node", "x()", ["node", "-e", "x()"]), ("[bash, -c]", "a\nb", ["bash", "-c", "a\nb"]),
        ("[env, python3, -c]", "x", ["env", "python3", "-c", "x"]),
    ])
    func `the shell of the file and of an operation runs a command, and stops it at its first failing line`(
        shell: String, command: String, arguments: [String]
    ) throws {
        let run = command.replacing("\n", with: "\\n")
        let ofFile = try plan(of: "shell: \(shell)\noperations: {a: {run: \"\(run)\"}}")
        #expect(ofFile.operations[0].shellArguments == arguments)
        let own = try plan(of: "shell: nothing\noperations: {a: {run: \"\(run)\", shell: \(shell)}}")
        #expect(own.operations[0].shellArguments == arguments)
    }

    @Test func `a list is a program and its arguments, which no shell reads`() throws {
        let text = "operations: {f: {run: [printf, '%s %d', '{item}', 7, 'a;b'], each: ['$(x)']}}"
        let operation = try plan(of: text).operations[0]
        #expect(operation.arguments == ["printf", "%s %d", "$(x)", "7", "a;b"])
        #expect(operation.command == "printf '%s %d' '$(x)' 7 'a;b'")
    }

    @Test func `a placeholder in code for another program than a shell is an error`() {
        #expect(
            complaints(about: "operations: {f: {run: 'print(\"{item}\")', shell: python3, each: [a]}}") == [
                "w:1:23: error: '{item}' in a command for another program than a shell; "
                    + "read the environment variable OPQ_ITEM, or give run a list"
            ])
    }

    @Test(arguments: [
        ("''", "'shell' names no program"), ("[]", "'shell' names no program"), ("5", "'shell' must be a string"),
    ])
    func `a shell needs a program`(shell: String, message: String) {
        #expect(complaints(about: "operations: {a: {run: x, shell: \(shell)}}").first?.contains(message) == true)
    }
}
