import WorkflowTestSupport

/// A generator of random shell texts around `{item}`.
struct ShellTextGenerator {
    /// Whether a text only passes the item to a command. The output of such a text shows the item unchanged.
    let isFaithful: Bool
    private var random: SeededRandom

    init(seed: UInt64, isFaithful: Bool) {
        self.isFaithful = isFaithful
        random = SeededRandom(seed: seed)
    }

    /// A function that prints its arguments between marks.
    private static let prelude = "exec 2>/dev/null\np() { printf '<%s>' \"$@\"; }\n"
    /// Functions that print nothing, because in a text that is not faithful, a shell may run output as code.
    private static let silence = "p() { :; }; cat() { command cat >/dev/null; }\n"

    /// Returns the next text.
    mutating func text() -> String {
        var text = list(depth: 3)
        guard !isFaithful else { return Self.prelude + text }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = text.indices.randomElement(using: &random) ?? text.startIndex
            if Bool.random(using: &random) {
                text.insert(contentsOf: pick(Self.scraps), at: index)
            } else {
                let end = text.index(index, offsetBy: Int.random(in: 1...3, using: &random), limitedBy: text.endIndex)
                text.removeSubrange(index..<(end ?? text.endIndex))
            }
        }
        return Self.silence + text
    }

    private static let scraps = [
        "'", "\"", "`", "$(", ")", "(", "((", "))", "${", "}", "{", "\\", "\\\n", "\n", ";", ";;", "#", " #", "<<E\n",
        "\nE\n",
        "<<'E'\n", "<<-E\n", "E)", "case x in ", "x)", "esac", " do ", "done", "in", "$", "$'", "$\"", "[", "]", "[[ ",
        " ]]", "<(", ">(",
        "&", "|", "!", " -v ", " -eq ", "let ", "test ", "printf ", "read ", "{item}", "\"{item}\"", "'{item}'",
        "for v do ",
        "function f ", "time ", "command ", "<", ">", "<<<", "=", "n=", "a[", "$\\\n", "$((", "#{", "~", "*",
    ]

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    private mutating func list(depth: Int) -> String {
        var text = command(depth: depth)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            // A here-document ends at the end of a line.
            text +=
                (text.hasSuffix("\n") ? "" : pick(["; ", "\n", " && ", "\n\n", " | cat; "])) + command(depth: depth)
        }
        return text
    }

    private mutating func command(depth: Int) -> String {
        let inner = depth > 0 ? list(depth: depth - 1) : "p \(word(depth: 0))"
        let end = inner.hasSuffix("\n") ? "" : "\n"
        let word = word(depth: depth)
        if !isFaithful, Int.random(in: 0..<3, using: &random) == 0 { return evaluating(self.word(depth: -1)) }
        return pick([
            "p \(word)", "p a \(word) b", "v=\(word); p \"$v\"", "for v in \(word) b; do p \"$v\"; done",
            "for v in \(word) b\ndo case $v in x) p y;; *) p \"$v\";; esac\ndone",
            "set -- a; for v do case $v in a) \(inner)\(end);; esac; done",
            "case \(word) in *) \(inner)\(end);; esac", "case x in (y|x) \(inner)\(end);; (*) p z;; esac",
            "case in in in) \(inner)\(end)\nesac", "(\(inner)\(end))", "{ \(inner)\(end)}",
            "if true; then \(inner)\(end)fi",
            "if { true; } then \(inner)\(end)fi", "! \(inner)", "f() { p \"$1\"; }; f \(word)",
            "cat <<E\na'{item}\"x\n E\nE\n",
            "cat <<E; p {item}\n$(p \(self.word(depth: 0)) )\nE\n",
            "cat <<-'E'\n\t it's $x `\n\tE\np \(word)", "cat <<A; cat <<\"B C\"\n{item}x\nA\n$(\nB C\np \(word)",
            "# it's {item}\np \(word)", "test -n \(word) && p \(word)", "[ \(word) = \(word) ] && p \(word)",
            "command printf '%s.' \(word)", "n=1 p \(word)", "p \(word) 2>&1", "p \(word) 2>/dev/null",
            "p \(word) | cat",
            "export V=\(word); p \"$V\"", "readonly r=1 2>/dev/null; p \(word)", "printf '%s.' \(word)",
            "p \"$(\(inner)\(end))\"", "v=$(\(inner)\(end)); p \"$v\"",
            "p \"`p {item} {item}`\"",
            "v=`p \"{item}\"; p 'it'`; p \"$v\"", "n=$((1 + (2 - 1))); p $n \(word)", "p ${n:-'}'} \(word)",
            "p \"${n:-\"}\"}\" \(word)", "eval 'p \"$OPQ_ITEM\"'; p \(word)",
            "sh -c 'printf \"<%s>\" \"$1\"' _ \(word)",
            "p \(word) \\\n\(word)", "p $# $$ >/dev/null; p \(word)", "printf -- '%s.' \(word)",
        ])
    }

    private mutating func word(depth: Int) -> String {
        var text = ""
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let inner = depth > 0 ? list(depth: depth - 1) : depth < 0 ? ":" : "p {item}"
            let end = inner.hasSuffix("\n") ? "" : " "
            text += pick([
                "{item}", "{item}", "\"{item}\"", "a", "\"a {item} b\"", "'it'", "\\'", "\\\"",
                "\"\\\"{item}\\\\\"",
                "\"it's\"", "\"$(\(inner)\(end))\"", "x=", "\"${n:-y}\"", "\"$n{item}\"", "a#{item}",
                "\"#\"",
                "$'q'", "\"$((1 + 2))\"{item}", depth < 0 ? "`:`" : "\"`p {item}`\"", "\"[{item}]\"", "\"{item.name}\"",
                "{item.stem}",
            ])
        }
        return text
    }

    /// Returns a command that evaluates a word. If the scanner accepts the command, the item must not run as code.
    private mutating func evaluating(_ word: String) -> String {
        pick([
            "let \(word)", "let n=\(word)", "[[ \(word) -eq 1 ]]", "[[ 1 -lt \(word) && a ]]", "[[ -v \(word) ]]",
            "test -v \(word)",
            "[ ! -v \(word) ]", "[ \(word) -eq 1 ]", "declare -i v=\(word)", "typeset -i v; v=\(word)",
            "f() { local -i v=\(word); }; f", "f() { local v=\(word); p \"$v\"; }; f", "export \(word)",
            "export v=\(word)",
            "declare \(word)=1", "readonly \(word)", "a[\(word)]=1", "a[1 + \(word)]=1", "a=([\(word)]=1)",
            "a=(\(word)); p \"${a[0]}\"",
            "printf -v \(word) x", "printf \(word) x", "printf -v v %s \(word); p \"$v\"", "read \(word) </dev/null",
            "read v <<<\(word)",
            "unset \(word)", "a=(1 2); unset \(word)", "p $((1 + \(word)))", "((n = \(word)))",
            "for ((n = \(word); n < 0; n++)); do :; done",
            "p ${n:\(word)}", "mapfile \(word) </dev/null", "getopts ab \(word)", "eval \(word)", "trap \(word) EXIT",
            ". \(word)",
            "source \(word)", "p >&\(word)", "cat <&\(word)", "RANDOM=\(word)", "for OPTIND in \(word); do :; done",
            "PS4=\(word); set -x",
            "alias l=\(word)\nl", "sh -c \(word)", "bash -c \"p \(word)\"", "sleep 0 & wait -n -p \(word)",
            "BASH_ENV=\(word) bash -c :",
            "function f { p \(word); }; f", "time -p p \(word)", "cat <(p \(word)) \(word)",
            "select v in \(word); do :; done </dev/null",
            "{item} \(word)", "{item.name} {item}", "sh {item.name} {item}", "command let \(word)",
            "compgen -W \(word)",
            "declare -n v=\(word); p \"$v\"", "declare -a v=\(word)", "p \"${\(word)}\"", "p \"${n/\(word)}\"",
            "coproc p \(word)",
        ])
    }
}
