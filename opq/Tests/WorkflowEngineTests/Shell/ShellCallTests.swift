import Testing

@testable import WorkflowEngine

/// Tests of commands that start a shell, or whose names are not known before they run.
struct ShellCallTests {
    @Test(arguments: [
        "bash -O extglob -c \"echo {item}\"", "bash --rcfile F -c {item}", "$SHELL -c \"echo {item}\"",
        "timeout 5 $SHELL -c {item}", "timeout 5 \"${BASH}\" -c {item}", "$BASH -c {item}",
        "flock L -c \"echo {item}\"", "su -c \"echo {item}\"", "su root -c {item}", "su --command={item} root",
        "runuser -c {item}", "script -qc \"echo {item}\"", "watch {item}", "ssh host cat {item}",
        "env sh -c {item}", "sudo bash -euo pipefail -c {item}", "bash -c -- {item}", "bash-5.2 -c {item}",
    ])
    func `an item in the code of a shell is refused`(command: String) { expectRefusal(of: command) }

    @Test(arguments: [
        "bash -s <<E\necho {item}\nE", "sh <<E\n{item}\nE", "bash <<< \"echo {item}\"", "echo \"echo {item}\" | sh",
        ". <(echo {item})", "bash <(echo {item})", "{\nsh\n} <<E\n{item}\nE", "cat <<E | sudo bash\n{item}\nE",
        ". /dev/stdin <<E\n{item}\nE", "sh /dev/stdin <<E\n{item}\nE", "su root <<E\n{item}\nE", "(sh) <<< {item}",
        "f() { sh; }; echo {item} | f", "ssh host <<E\n{item}\nE", "x=$(sh) <<< {item}", "x=`sh` <<< {item}",
    ])
    func `an item that a shell reads as code is refused`(command: String) { expectRefusal(of: command) }

    @Test(arguments: [
        "function f { eval {item}; }", "coproc N { eval {item}; }", ">|/dev/null eval {item}",
        "{fd}>/dev/null eval {item}", "<<E eval {item}\nE", "a[1]=2 eval {item}", "a[\"x y\"]=1 eval {item}",
        "a[1 + 2]=1 eval {item}", "a[0]+=1 eval {item}", "a=(1 2) eval {item}", "echo `echo \\`eval {item}\\``",
        "{sh,-c} {item}", "sh {-c,{item}}", "ev[a]l {item}", "$'eval' {item}", "$e {item}", "${x-eval} {item}",
        "\"$(echo eval)\" {item}", "`echo eval` {item}", "env $e {item}", "alias e=eval\ne {item}",
        "PS4+={item}; set -x", "printf -v PS4 %s {item}; set -x", "printf -vPS4 %s {item}; set -x", "SRANDOM={item}",
        "read PS4 <<< {item}; set -x", "read PS4 <<E\n{item}\nE", "CC=eval; $CC {item}", "read CC; $CC {item}",
        "$SHELL {item}x -c {item}", "$BASH -c {item}", "$cc {item}",
    ])
    func `an item is refused if it could become code`(command: String) { expectRefusal(of: command) }

    private func expectRefusal(of command: String) {
        #expect(!CommandTemplate(Template(command)).misplaced.isEmpty, "\(command)")
    }

    @Test(arguments: [
        "$CC -c {item} -o x.o", "\"$CC\" -c {item}", "$CC $CFLAGS -MD -MF {item.stem}.d -c {item}",
        "sh {item}", "sh script.sh {item}", "sh ./s -c {item}", "bash -eu script.sh {item} {item.name}",
        "sh -c 'echo \"$1\"' sh {item} {item.name}", "bash -euo pipefail -c 'echo \"$1\"' _ {item}",
        "bash -o pipefail -c 'f' x {item}", "flock L cp {item} out", "tar cf - {item} | ssh host tar xf -",
        "ssh host tar xf - < {item}", ". ./env.sh; cp {item} out", "command -v sh && cp {item} out",
        "which bash; cp {item} out", "read v < {item}; echo \"$v\"", "a=($x {item}); echo \"${a[@]}\"",
        "cc -c {item} -o {item.stem}.o", "cc $CFLAGS -c {item}", "~/bin/tool {item}", "./{item} {item.name}",
        "ENV=test make {item}", "SECONDS=0; cp {item} out; echo $SECONDS", "PS4='+ '; set -x; cp {item} out",
        "diff <(sort {item}) <(sort {item.name})", "[ \"$x\" = {item} ]",
        "find . -name x -exec sh -c 'f \"$1\"' _ {} \\;; echo {item}", "for i in $x {item}; do echo \"$i\"; done",
        "case {item} in $x|*.c) echo {item};; esac", "cp {item} out >| log", "make > log 2>&1; cp {item} \"$DIR/out\"",
        "echo \"$(basename {item}) `dirname {item}`\"",
    ])
    func `an item beside a shell that does not run it is permitted`(command: String) {
        #expect(CommandTemplate(Template(command)).misplaced == [], "\(command)")
    }

    @Test func `deep nesting is refused in linear time`() {
        let text = String(repeating: "$(echo {item} ", count: 8000)
        #expect(CommandTemplate(Template(text)).misplaced.first?.obstacle == .depth)
        let run = String(repeating: "$(echo {item} ", count: 20_000)
        #expect(
            complaints(about: "operations: {f: {run: '\(run)', each: [a]}}") == [
                "w:1:23: error: the command of 'f' has 280000 bytes, and the system takes 131071; put it in a file, and run that"
            ])
    }
}
