import Testing

@testable import WorkflowEngine

/// Tests that run commands with `{item}` at many places by the shells of this machine.
struct ShellTests {
    /// Names that would have an effect if a shell read them as part of a command.
    static let names = [
        "a b", "plain.txt", "7", "$(touch PWN)", "; touch PWN", "`touch PWN`", "'", "\"", "a\\", "\\'", "$HOME", "a\nb",
        "a\nE\ntouch PWN", "E", "*", "#x", "{a,b}", ">PWN", ")", "'; touch PWN; '", "\"; touch PWN; \"",
        "\\\"; touch PWN; \\\"", "é ü", "esac", "x=1", "%s\\n", "a[$(touch PWN)]", "\\$(touch PWN)",
    ]

    /// Each command prints `printed`, in which the item replaces each `{}`.
    @Test(arguments: [
        ("printf %s {item}", "{}"), ("printf %s \"{item}\"", "{}"),
        ("printf %s a{item}b\"{item}\"", "a{}b{}"),
        ("printf %s \"$(printf %s {item}; echo x)\"", "{}x"), ("printf %s \"$(printf %s \"{item}\"; echo x)\"", "{}x"),
        ("x=`printf %s {item}; echo x`; printf %s \"$x\"", "{}x"),
        ("x=`printf %s \"{item}\"; echo x`; printf %s \"$x\"", "{}x"),
        ("printf %s \"`printf %s {item}; echo x`\"", "{}x"),
        ("printf %s `echo \\\\n` {item}", "n{}"),
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
        // Places next to those in which a shell evaluates a word.
        ("export V={item}; printf %s \"$V\"", "{}"), ("f() { local v={item}; printf %s \"$v\"; }; f", "{}"),
        ("readonly v=\"{item}\"; printf %s \"$v\"", "{}"), ("printf -- %s {item}", "{}"),
        ("eval 'printf %s \"$OPQ_ITEM\"'; : {item}", "{}"), ("sh -c 'printf %s \"$1\"' _ {item}", "{}"),
        ("trap 'printf x' EXIT; printf %s {item}", "{}x"), ("[ -n {item} ] && printf %s {item}", "{}"),
        ("let=1; printf %s {item}", "{}"), ("printf %s let {item}", "let{}"), ("printf %s \"[{item}]\"", "[{}]"),
        ("printf %s \"$(cat <<E\n$(printf %s {item}; echo x)\nE\n)\"{item}", "{}x{}"),
        ("printf %s [a] {item}", "[a]{}"), ("unset v; printf %s {item}", "{}"), ("printf %s {item} >&2", "{}"),
        ("cat <<E\n x E)\n{item}\nE", " x E)\n{}\n"), ("while read v; do :; done < /dev/null; printf %s {item}", "{}"),
        ("set -- a; for v do case $v in a) printf %s {item};; esac; done", "{}"),
        ("printf %s \"$(set -- a; for v do case $v in a) printf %s {item}; echo x;; esac; done)\"", "{}x"),
        ("if { true; } then case a in a) printf %s {item};; esac fi", "{}"),
        ("case esac in (esac) printf %s {item};; esac", "{}"),
        ("for v in 1 2\ndo case $v in 1) printf %s {item};; esac\ndone", "{}"),
    ])
    func `an item arrives unchanged at every place`(command: String, printed: String) throws {
        let template = CommandTemplate(Template(command))
        try #require(template.misplaced == [])
        let run = try ShellRun()
        for shell in ShellRun.shells {
            for name in Self.names {
                let item = Item(path: name)
                let output = try run.output(of: template.command, item, by: shell)
                #expect(output == printed.replacing("{}", with: name), "\(shell), \(name)")
            }
        }
        #expect(!run.removes("PWN"))
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
        ("echo '{item}'", .apostrophes), ("awk '{ print \"{item}\" }' f", .apostrophes),
        ("echo it's {item}", .apostrophes),
        ("echo \"$(echo '{item}')\"", .apostrophes), ("cat <<-\"E F\"\n\t{item}\n\tE F", .quotedHereDocument),
        ("echo $[{item}]", .parameterExpansion), ("echo $'\\'{item}'", .dollarQuotes),
    ])
    func `an item is refused where the shell expands no variable or evaluates it`(
        command: String, obstacle: ShellObstacle
    ) {
        #expect(CommandTemplate(Template(command)).misplaced.first?.obstacle == obstacle)
    }

    @Test(
        arguments: [
            ("[[ {item} -eq 1 ]]", .conditional), ("[[ 1 -ne \"{item}\" ]]", .conditional),
            ("[[ 1 -lt '{item}' ]]", .conditional), ("if [[ -n x && {item} -ge 1 ]]; then :; fi", .conditional),
            ("! [[ -v {item} ]]", .conditional), ("[[ x =~ {item} ]]", .conditional),
            ("let {item}", .evaluated(by: "let")), ("let \"x = {item}\"", .evaluated(by: "let")),
            ("x=1 2>f let {item}", .evaluated(by: "let")), ("command -p let {item}", .evaluated(by: "let")),
            ("time -p let {item}", .evaluated(by: "let")), ("\\let {item}", .evaluated(by: "let")),
            ("'let' {item}", .evaluated(by: "let")), ("if let {item}; then :; fi", .evaluated(by: "let")),
            ("cat <(echo a) | let {item}", .evaluated(by: "let")), ("> f let {item}", .evaluated(by: "let")),
            ("echo \"$(let {item})\"", .evaluated(by: "let")), ("(let {item})", .evaluated(by: "let")),
            ("read {item}", .evaluated(by: "read")), ("while read -r {item}; do :; done", .evaluated(by: "read")),
            ("unset {item}", .evaluated(by: "unset")), ("mapfile {item}", .evaluated(by: "mapfile")),
            ("readarray {item}", .evaluated(by: "readarray")), ("getopts ab {item}", .evaluated(by: "getopts")),
            ("wait -n -p {item}", .evaluated(by: "wait")), ("test -v {item}", .evaluated(by: "test -v")),
            ("[ ! -v {item} ]", .evaluated(by: "[ -v")), ("[ -n a -a \"-v\" {item} ]", .evaluated(by: "[ -v")),
            ("export {item}", .evaluated(by: "export")), ("declare {item}=1", .evaluated(by: "declare")),
            ("local -r {item}", .evaluated(by: "local")), ("typeset x{item}=1", .evaluated(by: "typeset")),
            ("declare -i x={item}", .declaration), ("typeset -xi x={item}", .declaration),
            ("local -r -i x={item}", .declaration), ("readonly -a x={item}", .declaration),
            ("x={item}; declare -i x", .declaration), ("declare -n x={item}", .declaration),
            ("a[{item}]=1", .brackets), ("echo a[\"{item}\"]", .brackets), ("a[b[{item}]]=1", .brackets),
            ("export a[{item}]=1", .brackets), ("printf -v {item} x", .format), ("printf -v{item} x", .format),
            ("printf {item}", .format), ("printf '{item}\\n'", .format), ("printf -v x {item}", .format),
            ("printf -- {item}", .format), ("for ((i = {item}; i < 1; i++)); do :; done", .arithmetic),
            ("echo ${x:{item}}", .parameterExpansion), ("eval {item}", .evaluated(by: "eval")),
            ("eval \"echo '{item}'\"", .evaluated(by: "eval")), ("trap \"rm {item}\" EXIT", .evaluated(by: "trap")),
            ("alias l={item}", .aliases), ("sh -c \"grep x '{item}'\"", .evaluated(by: "sh -c")),
            ("/bin/bash -eu -o pipefail -c {item}", .evaluated(by: "bash -c")),
            ("source {item}", .evaluated(by: "source")),
            (". {item}", .evaluated(by: ".")), ("RANDOM={item}", .variable("RANDOM")),
            ("export OPTIND={item}", .variable("OPTIND")),
            ("for RANDOM in {item}; do :; done", .variable("RANDOM")), ("PS4={item}; set -x", .variable("PS4")),
            ("echo >&{item}", .duplication), ("cat <& {item}", .duplication),
            ("{item.name} {item}", .evaluated(by: "a command that is an item")),
            ("sh {item.name} {item}", .evaluated(by: "sh -c")),
        ] as [(String, ShellObstacle)])
    func `an item is refused where a shell evaluates it`(command: String, obstacle: ShellObstacle) {
        #expect(CommandTemplate(Template(command)).misplaced.last?.obstacle == obstacle)
    }

    @Test(arguments: [
        "$CC -c {item}", "${CC} -c {item}", "\"$CC\" {item}", "\"${CC}\" {item}", "time \"${CC}\" {item}",
    ])
    func `a variable in capitals is taken for a program`(command: String) {
        #expect(CommandTemplate(Template(command)).misplaced.isEmpty)
    }

    @Test(arguments: [
        "CC=eval; ${CC} {item}", ": ${CC:=eval}; $CC {item}", "CC=ev; ${CC}al {item}", "${CC:-eval} {item}",
        "${SHELL} {item}",
    ])
    func `a variable that the command sets is taken for no program`(command: String) {
        #expect(CommandTemplate(Template(command)).misplaced.first?.obstacle == .name)
    }

    @Test func `a refused item is reported with the remedy`() {
        #expect(
            complaints(about: "operations: {f: {run: \"cat <<'E'\\n{item.name}\\nE\", each: [a]}}") == [
                "w:1:23: error: '{item.name}' cannot stand here: in a here-document with a quoted delimiter, "
                    + "where the shell replaces nothing; remove the quotes from the delimiter"
            ])
        #expect(
            complaints(about: "operations: {f: {run: 'echo ${x:-{item}}', each: [a]}}") == [
                "w:1:23: error: '{item}' cannot stand here: in ${…}; use \"$OPQ_ITEM\", which holds the same value"
            ])
        #expect(
            complaints(about: "operations: {f: {run: \"awk '/{item}/' f\", each: [a]}}") == [
                "w:1:23: error: '{item}' cannot stand here: between apostrophes, where the shell replaces nothing; "
                    + "end the apostrophes before it, as in 'a'\"$OPQ_ITEM\"'b', or use quotation marks"
            ])
        #expect(
            complaints(about: "operations: {f: {run: 'let x={item}', each: [a]}}") == [
                "w:1:23: error: '{item}' cannot stand here: in an argument of let, which is evaluated as code; "
                    + "write $OPQ_ITEM there, between apostrophes, and in the quotation marks of that code"
            ])
    }
}
