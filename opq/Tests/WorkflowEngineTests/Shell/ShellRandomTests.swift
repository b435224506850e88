import Foundation
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

/// Tests that run random texts by real shells. The scanner accepts `{item}` in these texts.
///
/// `OPQ_SHELL_TEXTS` sets the number of texts, and `OPQ_SHELL_SEED` the first seed.
@Suite(.timeLimit(.minutes(60)))
struct ShellRandomTests {
    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    private static let count = number("OPQ_SHELL_TEXTS") ?? 40
    private static let firstSeed = number("OPQ_SHELL_SEED") ?? 1

    /// Names that create a file if a shell runs them as code.
    private static let names = [
        "$(touch PWNED)", "`touch PWNED`", "a[$(touch PWNED)]", "a[`touch PWNED`]=1", "; touch PWNED;",
        "\ntouch PWNED\n",
        "'; touch PWNED; '", "\"; touch PWNED; \"", "-va[$(touch PWNED)]", "-v", "x$(touch PWNED)/eval",
        "-pa[$(touch PWNED)]",
        "eval.$(touch PWNED)", "a b", "'", "\"", "\\", "*", "E", "E)", "}", ")", "#", "é\u{1F600}", "-n",
        "($(touch PWNED))", "~", "$HOME",
        "1;touch PWNED", "a\\", "%s%n\\", "${x:=$(touch PWNED)}", "|touch PWNED&", "l=touch PWNED", "esac",
        "$((a[$(touch PWNED)]))",
    ]

    @Test func `no random text runs an item as code`() throws {
        let accepted = try check(isFaithful: false) { run, template, name, text in
            for shell in ShellRun.shells {
                _ = try run.output(of: template.command, Item(path: name), by: shell)
                #expect(!run.removes("PWNED"), "\(shell): \(name.debugDescription) in \(text.debugDescription)")
            }
        }
        #expect(accepted > 0)
    }

    @Test func `random texts pass an item unchanged`() throws {
        let accepted = try check(isFaithful: true) { run, template, name, text in
            let usual = Item(path: "Usual")
            let odd = Item(path: name)
            for shell in ShellRun.shells {
                let expected = try run.output(of: template.command, usual, by: shell)
                let output = try run.output(of: template.command, odd, by: shell)
                #expect(
                    output == expected.replacing("Usual", with: name),
                    "\(shell): \(name.debugDescription) in \(text.debugDescription)")
                #expect(!run.removes("PWNED"), "\(shell): \(name.debugDescription) in \(text.debugDescription)")
            }
        }
        #expect(accepted > 0)
    }

    /// - Returns: The number of accepted texts.
    private func check(
        isFaithful: Bool, _ body: (ShellRun, CommandTemplate, String, String) throws -> Void
    ) throws -> Int {
        var accepted = 0
        for seed in Self.firstSeed..<Self.firstSeed + Self.count / 2 {
            var generator = ShellTextGenerator(seed: UInt64(seed), isFaithful: isFaithful)
            let text = generator.text()
            let template = CommandTemplate(Template(text))
            guard !Template(text).placeholders.isEmpty, template.misplaced.isEmpty else { continue }
            accepted += 1
            // Names without a slash and a dot are equal to their stems and last components.
            let names = isFaithful ? Self.names.filter { !$0.contains("/") && !$0.contains(".") } : Self.names
            let run = try ShellRun()
            try body(run, template, names[seed &* 7 % names.count], text)
        }
        if Self.count > 1000 {
            print("\(accepted) of \(Self.count / 2) texts from seed \(Self.firstSeed) were accepted")
        }
        return accepted
    }
}
