import Testing

@testable import Arguments

/// A command that records its options.
private struct Cook: Command {
    enum Heat: String, CaseIterable { case low, high }

    static let description = CommandDescription("cook", "Cook a meal.", discussion: "It may take a while.")
    static var options: [CommandOption<Self>] {
        [
            .flag("salt", short: "s", "Add salt.") { $0.salt = true },
            .number("time", short: "t", least: 1, "The minutes.") { $0.time = $1 },
            .text("with", "food", "Add food.", value: .path) { $0.foods.append($1) },
            .choice("heat", "The heat.") { $0.heat = $1 },
            .optionalNumber("serve", placeholder: "place", "Serve the meal.") { $0.place = .some($1) },
        ]
    }
    static var operands: CommandOption<Self>? {
        .words("meals", "The meals.", value: .text) { (cook, word) throws(UsageError) in
            if word == "stone" { throw UsageError("a stone is no meal") }
            cook.meals.append(word)
        }
    }

    var salt = false
    var time: Int?
    var foods: [String] = []
    var heat = Heat.low
    var place: Int??
    var meals: [String] = []

    func validate() throws(UsageError) { if salt, meals == ["cake"] { throw UsageError("no salt for a cake") } }
    func run() {}
}

private struct AnyWords: Command {
    static let description = CommandDescription("any", "Take any words.", takesAnyWords: true)
    static var operands: CommandOption<Self>? { .words("words", "Words.", value: .text) { $0.words.append($1) } }

    var words: [String] = []

    func run() {}
}

private struct NoWords: Command {
    static let description = CommandDescription("none", "Take no words.")

    func run() {}
}

private let program = CommandProgram(
    "kitchen", version: "1.2", "Run a kitchen.", discussion: "It has an oven.",
    commands: [Cook.self, AnyWords.self, NoWords.self])

struct ParsingTests {
    private func parsed(_ words: String...) throws -> Cook { try #require(try Cook.parsed(words[...])) }

    @Test func `options and words may come in any order`() throws {
        let cook = try parsed("soup", "--with", "rice", "-s", "--time=3", "--heat", "high", "tea", "--with=a=b", "-")
        #expect(cook.meals == ["soup", "tea", "-"])
        #expect(cook.foods == ["rice", "a=b"])
        #expect(cook.salt)
        #expect(cook.time == 3)
        #expect(cook.heat == .high)
    }

    @Test(arguments: ["-t4", "-t=4", "-st4", "-t 4", "-st 4", "--time 4"])
    func `a letter may have its value in the same word or in the next one`(text: String) throws {
        #expect(try Cook.parsed(text.split(separator: " ").map(String.init)[...])?.time == 4)
    }

    @Test func `after two dashes, every word is no option`() throws {
        #expect(try parsed("--", "-s", "--", "--help").meals == ["-s", "--", "--help"])
    }

    @Test func `the last value of an option counts`() throws {
        #expect(try parsed("-t", "4", "-t", "5").time == 5)
    }

    @Test func `a value may be omitted, and a word that is no number is not the value`() throws {
        #expect(try parsed("--serve", "soup").place == .some(nil))
        #expect(try parsed("--serve", "soup").meals == ["soup"])
        #expect(try parsed("--serve", "80", "soup").place == 80)
        #expect(try parsed("--serve=80").place == 80)
        #expect(try parsed("soup").place == nil)
    }

    @Test(arguments: [
        ("--slat", "unknown option '--slat'; did you mean '--salt'?"), ("--xyz", "unknown option '--xyz'"),
        ("-x", "unknown option '-x'"), ("-sx", "unknown option '-x'"), ("-xs", "unknown option '-x' in '-xs'"),
        ("--time", "--time has no value"), ("--time=", "--time= has no value"), ("--time -s", "--time has no value"),
        ("-t", "-t has no value"), ("--salt=1", "--salt takes no value"),
        ("-t 0", "--time must be 1 or more, found 0"),
        ("-t 014", "--time must be a whole number in decimal digits, found '014'"),
        ("-t +4", "--time must be a whole number in decimal digits, found '+4'"),
        ("--heat hot", "--heat must be one of low|high, found 'hot'"), ("stone", "a stone is no meal"),
        ("-s cake", "no salt for a cake"),
    ])
    func `wrong words have this message`(text: String, message: String) {
        let error = #expect(throws: UsageError.self) {
            try Cook.parsed(text.split(separator: " ").map(String.init)[...])
        }
        #expect(error?.text == message)
    }

    @Test func `a command without words refuses them, and another takes options as words`() throws {
        #expect(throws: UsageError.self) { try NoWords.parsed(["x"]) }
        #expect(try AnyWords.parsed(["-x", "--", "--help"])?.words == ["-x", "--", "--help"])
    }

    @Test func `options of a part are options of the whole`() throws {
        struct Meal: Command {
            static let description = CommandDescription("meal", "Cook.")
            static var options: [CommandOption<Self>] { Cook.options.map { $0.lifted(\.cook) } }
            var cook = Cook()
            func run() {}
        }
        #expect(try Meal.parsed(["-s", "-t", "2"])?.cook.time == 2)
        #expect(throws: UsageError.self) { try Meal.parsed(["-t", "0"]) }
    }
}

struct CommandProgramTests {
    private func text(_ words: String..., exists: Bool = false) -> String {
        switch program.reaction(to: words, exists: { _ in exists }) {
        case .run(let command): "run \(type(of: command).description.name)"
        case .print(let text): text
        case .refuse(let text): "refuse " + text
        }
    }

    @Test func `the first word chooses the command`() {
        #expect(text("cook", "soup") == "run cook")
        #expect(text("any", "--version") == "run any")
    }

    @Test func `help and version are printed for the program and for each command`() {
        #expect(text() == text("--help"))
        #expect(text("help", "cook") == text("cook", "soup", "-h"))
        #expect(text("--version") == "1.2")
        #expect(text("cook", "--version") == "1.2")
        #expect(text("--help").contains("  cook                    Cook a meal."))
        #expect(text("cook", "--help").contains("  -t, --time <number>     The minutes."))
        #expect(text("cook", "--help").contains("Usage: kitchen cook [<options>] [<meals>]"))
        #expect(text("cook", "--help").split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func `a wrong first word has a remedy`() {
        #expect(text("cok") == "refuse kitchen: unknown subcommand 'cok'; did you mean 'cook'?")
        #expect(
            text("a.yml", exists: true)
                == "refuse kitchen: unknown subcommand 'a.yml'; did you mean 'kitchen run a.yml'?")
        #expect(text("--salt").hasPrefix("refuse kitchen: unknown option '--salt'"))
        #expect(
            text("cook", "--slat").hasPrefix("refuse kitchen: unknown option '--slat'; did you mean '--salt'?\nUsage: ")
        )
    }

    @Test func `the manual page escapes dashes and has each option`() {
        let page = text("--manual")
        #expect(page.contains(".SS kitchen cook"))
        #expect(page.contains("\\fB\\-t\\fR, \\fB\\-\\-time\\fR \\fInumber\\fR\nThe minutes."))
    }

    @Test func `there are completions for three shells`() {
        #expect(text("--completions", "tcsh").hasPrefix("refuse"))
        #expect(text("--completions", "bash").contains("cook:--heat) COMPREPLY=($(compgen -W 'low high'"))
        #expect(text("--completions", "zsh").contains("'*--heat=[The heat.]:low high:(low high)'"))
        #expect(text("--completions", "fish").contains("-l heat -x -a 'low high' -d 'The heat.'"))
    }
}
