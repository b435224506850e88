import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

/// What `{item}` becomes wherever it stands, run by the shells that are there.
struct ShellTests {
    /// Two that read some commands differently; where one is not there, `sh` is the other.
    static let shells: [String] = ["/bin/dash", "/bin/bash"].map { (path: String) in
        access(path, X_OK) == 0 ? path : "/bin/sh"
    }

    /// Names that would do something if a shell read them as part of a command.
    static let names = [
        "a b", "plain.txt", "7", "$(touch PWN)", "; touch PWN", "`touch PWN`", "'", "\"", "a\\", "\\'", "$HOME", "a\nb",
        "a\nE\ntouch PWN", "E", "*", "#x", "{a,b}", ">PWN", ")", "'; touch PWN; '", "\"; touch PWN; \"",
        "\\\"; touch PWN; \\\"", "é ü", "esac", "x=1", "%s\\n", "a[$(touch PWN)]", "\\$(touch PWN)",
    ]

    /// Commands that print `printed` with each `{}` replaced by the item.
    @Test(arguments: [
        ("printf %s {item}", "{}"), ("printf %s \"{item}\"", "{}"), ("printf %s '{item}'", "{}"),
        ("printf %s a{item}b\"{item}\"'{item}'", "a{}b{}{}"),
        ("printf %s \"$(printf %s {item}; echo x)\"", "{}x"), ("printf %s \"$(printf %s \"{item}\"; echo x)\"", "{}x"),
        ("printf %s \"$(printf %s '{item}'; echo x)\"", "{}x"),
        ("x=`printf %s {item}; echo x`; printf %s \"$x\"", "{}x"),
        ("x=`printf %s '{item}'; echo x`; printf %s \"$x\"", "{}x"),
        ("x=`printf %s \"{item}\"; echo x`; printf %s \"$x\"", "{}x"),
        ("printf %s \"`printf %s {item}; echo x`\"", "{}x"),
        ("printf %s \"`printf %s '{item}'; echo x`\"", "{}x"), ("printf %s `echo \\\\n` {item}", "n{}"),
        ("cat <<E\n{item}\nE", "{}\n"), ("cat <<E\nit's\nE\nprintf %s {item}", "it's\n{}"),
        ("cat <<-E\n\t{item}\n\tE\nprintf %s {item}", "{}\n{}"),
        ("cat <<'E'\nit's $x `\nE\nprintf %s {item}", "it's $x `\n{}"),
        ("cat <<\\E\n\"\nE\nprintf %s {item}", "\"\n{}"), ("cat << \"E F\"\n'\nE F\nprintf %s {item}", "'\n{}"),
        ("cat <<A; cat <<B; printf %s {item}\n{item}\nA\n'{item}\nB", "{}\n'{}\n{}"),
        ("cat <<E | cat; printf %s {item}\n$(echo \"it's\")\nE", "it's\n{}"),
        ("cat <<E\n\\{\"$(printf %s {item}; echo x)\nE", "\\{\"{}x\n"),
        ("printf %s \"$(cat <<E\n{item}x\nE\n)\"", "{}x"), ("(cat <<E\nit's\nE\nprintf %s {item})", "it's\n{}"),
        ("cat <<E #it's\n\"\nE\nprintf %s {item}", "\"\n{}"), ("cat 0<<E\n(\nE\nprintf %s {item}", "(\n{}"),
        ("printf %s \"$(case x in x) printf %s {item}; echo x;; esac)\"", "{}x"),
        ("printf %s \"$(case in in (in|x) case y in esac; echo y;; esac)\" {item}", "y{}"),
        ("case {item} in *) printf %s {item};; esac; printf %s {item}", "{}{}"),
        ("case a in\nb) ;;\na) printf %s {item}\n;;\nesac\nprintf %s {item}", "{}{}"),
        ("if true; then case a in (a) printf %s {item} ;; esac; fi", "{}"),
        ("echo case esac; printf %s {item}", "case esac\n{}"),
        ("# it's {item}\nprintf %s {item}", "{}"), ("(printf %s {item})", "{}"), ("{ printf %s {item}; }", "{}"),
        ("f() { printf %s \"$1\"; }; f {item}", "{}"), ("x=$((1 + (2 - 1))); printf %s {item}", "{}"),
        ("printf %s \"${x:-y}\" {item}", "y{}"), ("printf %s ${x:-'}'} {item}", "}{}"),
        ("printf %s \"${x:-\"}\"}\" {item}", "}{}"),
        ("printf %s \\\"{item}", "\"{}"), ("printf %s \"a\\\"{item}\\\"\"", "a\"{}\""), ("printf %s $# {item}", "0{}"),
        ("printf %s a#b{item}", "a#b{}"), ("printf %s {item} 2>&1 | cat", "{}"), ("printf %s \\\n{item}", "{}"),
        ("printf %s \"$(printf %s `printf %s b` {item}; echo x)\"", "b{}x"),
        ("printf %s \"$$\" >/dev/null; printf %s {item}", "{}"),
        ("printf %s $(printf %s \"$(echo ')')\") {item}", "){}"), ("printf %s \"$((1+2))\"{item}", "3{}"),
        ("for i in {item} {item}; do printf %s \"$i\"; done", "{}{}"), ("x={item}; printf %s \"$x\"", "{}"),
        ("printf %s \"$( (printf %s {item}; echo x) )\"", "{}x"), ("test {item} = {item} && printf %s {item}", "{}"),
        ("printf %s \"$OPQ_ITEM\"", "{}"), ("x=7; printf %s $x{item}", "7{}"), ("x=7; printf %s \"$x{item}\"", "7{}"),
        ("printf %s ~{item}", "~{}"),
    ])
    func `an item is what it is wherever it stands`(command: String, printed: String) throws {
        let template = CommandTemplate(Template(command))
        try #require(template.misplaced == [])
        let directory = try TemporaryDirectory()
        for shell in Self.shells {
            for name in Self.names {
                let item = Item(path: name)
                let output = try output(of: template.command(for: item), item, by: shell, in: directory)
                #expect(output == printed.replacing("{}", with: name), "\(shell), \(name)")
            }
        }
        #expect(access(directory.path + "/PWN", F_OK) != 0)
    }

    @Test(arguments: [
        ("cat <<'E'\n{item}\nE", ShellObstacle.quotedHereDocument), ("cat <<\\E\n{item}\nE", .quotedHereDocument),
        ("cat <<{item}\nx\n", .hereDocumentDelimiter), ("echo \"\\{item}\"", .afterBackslash),
        ("echo \\{item}", .afterBackslash),
        ("cat <<E\n\\{item}\nE", .afterBackslash), ("echo `echo \\{item}`", .afterBackslash),
        ("echo $(( 1 + {item} ))", .arithmetic), ("echo $(( \"{item}\" ))", .arithmetic),
        ("(( x = {item} ))", .arithmetic),
        ("(( x = (1 + \"{item}\") ))", .arithmetic), ("cat <<E\n$(({item}))\nE", .arithmetic),
        ("echo ${x:-{item}}", .parameterExpansion), ("echo \"${x:-\"{item}\"}\"", .parameterExpansion),
        ("echo ${x['{item}']}", .parameterExpansion), ("echo $'{item}'", .dollarQuotes),
        ("echo `echo \\`echo {item}\\``", .unclear("backquotes in backquotes")), ("echo $[{item}]", .unclear("$[")),
        ("echo $'\\'' {item}", .unclear("a backslash in $'…'")),
        ("echo x) {item}", .unclear("a parenthesis that nothing opens")),
        ("echo $((1) ) {item}", .unclear("$(( without ))")),
        ("cat <<$x\n$x\n{item}", .unclear("the delimiter of a here-document")),
        ("cat <<E; echo '\n{item}\nE\n'", .unclear("a line end within quotes or parentheses beside a here-document")),
        ("cat <<E; echo $(\n{item}\nE\n)", .unclear("a line end within quotes or parentheses beside a here-document")),
        ("cat <<E\n$(echo\n{item}\nE\n)", .unclear("a line end within quotes or parentheses beside a here-document")),
        ("echo \"${x:-'}'}\" {item}", .unclear("an apostrophe within ${…} or $((…))")),
        ("echo `cat <<E\n{item}\nE\n`", .unclear("a here-document in backquotes")),
        ("echo $(cat <<E)\n{item}\nE\n", .unclear("a here-document that begins behind its $(…)")),
    ])
    func `an item is refused where its quoting cannot be known`(command: String, obstacle: ShellObstacle) {
        #expect(CommandTemplate(Template(command)).misplaced.first?.obstacle == obstacle)
    }

    @Test func `a refused item is reported with the variable to use`() {
        #expect(
            complaints(about: "operations: {f: {run: \"cat <<'E'\\n{item.name}\\nE\", each: [a]}}") == [
                "w:1:23: error: '{item.name}' cannot be quoted where it stands: in a here-document with a quoted delimiter, "
                    + "where the shell replaces nothing; take the quotes off the delimiter"
            ])
        #expect(
            complaints(about: "operations: {f: {run: 'echo ${x:-{item}}', each: [a]}}") == [
                "w:1:23: error: '{item}' cannot be quoted where it stands: in ${…}; "
                    + "use \"$OPQ_ITEM\", which holds the same"
            ])
    }

    private func output(
        of command: String, _ item: Item, by shell: String, in directory: TemporaryDirectory
    ) throws -> String {
        let operation = PlannedOperation(
            name: "x", command: command, directory: directory.path, environment: [:], item: item, queue: "q",
            priority: .normal,
            isBarrier: false)
        let spool = try SpoolDirectory().makeSpool()
        let process = try CommandProcess(operation, output: spool.file, shell: shell)
        while process.end() == nil {
            var ready = pollfd(fd: process.descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, 10)
        }
        return String(decoding: try spool.tail(byteCount: 10_000), as: UTF8.self)
    }
}
