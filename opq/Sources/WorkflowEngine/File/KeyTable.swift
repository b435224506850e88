/// The keys of one kind of map in a workflow file. The parser and the JSON Schema use the same tables.
struct KeyTable: Sendable {
    /// A key of a map.
    struct Key: Sendable {
        let name: String
        let form: Form
        /// A description for editors.
        let text: String
    }

    /// The form of a value.
    indirect enum Form: Sendable {
        case string
        /// A string, a number or a boolean, each of which is read as text.
        case text
        case flag
        /// A whole number of at least this value.
        case count(from: Int)
        /// A number that may have a fraction.
        case factor
        case duration
        case rate
        case choice([String])
        /// One value or a list of values.
        case list(Form)
        /// A map with any names as keys.
        case map(Form)
        case keys(KeyTable)
        case either([Form])
        /// A list only, with at least one value.
        case sequence(Form)
        case nothing
    }

    let keys: [Key]
    /// The names of the keys, in the order of the table.
    let names: [String]
    /// Names of other tools, each with the key that it means here.
    let others: [String: String]

    /// Creates a table.
    init(_ keys: [(String, Form, String)], others: [String: String] = [:]) {
        self.keys = keys.map { Key(name: $0, form: $1, text: $2) }
        names = keys.map(\.0)
        self.others = others
    }

    /// Returns the fix for a key that is not in the table.
    func remedy(for name: String) -> String? {
        if let meant = others[name.lowercased()] { return "did you mean '\(meant)'?" }
        return suggestion(for: name, among: names)
    }
}

extension KeyTable {
    static let workflow = KeyTable(
        [
            ("name", .string, "The name of the workflow, for the summary and for reports."),
            ("vars", .map(.text), "Variables with their default values. Each is a placeholder, such as {mode}."),
            ("environment", .map(.text), "Environment variables of all commands."),
            ("dotenv", .either([.flag, .list(.string)]), "Files of environment variables. The default is .env."),
            ("secrets", .list(.string), "The environment variables whose values are masked in all output."),
            ("include", .list(.string), "Other files, whose queues and operations are added to this file."),
            ("shell", shell, "The shell of all commands."),
            ("grace", .duration, "The time that commands get to end after a signal. The default is 2s."),
            ("resources", .map(size), "The totals of the resources that operations use."),
            ("jobserver", .flag, "Whether the makes in commands share the jobs of opq."),
            ("queues", .map(.either([.keys(queue), .nothing])), "The queues."),
            ("operations", .map(.keys(operation)), "The operations, in the order in which they are queued."),
        ],
        others: [
            "env": "environment", "variables": "vars", "jobs": "operations", "tasks": "operations",
            "steps": "operations", "targets": "operations", "recipes": "operations", "rules": "operations",
            "includes": "include", "imports": "include", "pools": "queues", "env_file": "dotenv",
        ])

    static let queue = KeyTable(
        [
            ("concurrency", .count(from: 1), "The number of operations that run at a time."),
            ("quality", .choice(Quality.allCases.map(\.rawValue)), "The quality of service."),
        ],
        others: ["limit": "concurrency", "depth": "concurrency", "jobs": "concurrency", "width": "concurrency"])

    static let operation = KeyTable(
        [
            ("run", .either([.string, .sequence(.text)]), "The command, or a program and its arguments."),
            ("queue", .string, "The queue of the operation."),
            ("after", .list(.string), "The operations and families that this operation waits for."),
            ("priority", .choice(Priority.allCases.map(\.rawValue)), "The priority in the queue."),
            ("directory", .string, "The working directory, relative to the file."),
            ("environment", .map(.text), "Environment variables of the command."),
            ("barrier", .flag, "Whether the operation separates those queued before and after it."),
            (
                "each", .either([.list(.text), .keys(source), .sequence(.either([.text, .keys(source)]))]),
                """
                The items of a family: globs and strings, the lines of a file, or the lines of a command.
                """
            ),
            ("matrix", .map(.list(.text)), "The axes of a family that has an operation for each combination."),
            ("exclude", .list(.map(.text)), "Combinations of the matrix that are left out."),
            ("include", .list(.map(.text)), "Combinations that are added to the matrix."),
            ("optional", .flag, "Whether the family may have no items."),
            ("shell", shell, "The shell of the command."),
            ("inputs", .list(.string), "The files, folders and globs that the command reads."),
            ("outputs", .list(.string), "The files and folders that the command makes."),
            ("depfile", .string, "A file in make's syntax, in which the command lists its inputs."),
            ("keepOutputs", .flag, "Whether outputs stay when the command fails or is interrupted."),
            ("timeout", .duration, "The longest time of a run of the command."),
            ("grace", .duration, "The time that the command gets to end after a signal."),
            ("retries", .either([.count(from: 0), .keys(retries)]), "How often a failed command runs again."),
            ("when", .choice(Condition.allCases.map(\.rawValue)), "The outcome of earlier operations that is needed."),
            ("mayFail", .flag, "Whether the run succeeds although the operation fails."),
            ("resources", .map(size), "The resources that the command uses while it runs."),
            ("rate", .rate, "The largest number of starts in a time, as in 10/1m."),
            ("exclusive", .list(.string), "Names that no two running operations share."),
            ("terminal", .flag, "Whether the command owns the terminal and standard input."),
            ("capture", .string, "The variable that gets the standard output, for the operations that come after."),
            ("slurm", .list(.string), "Options for sbatch."),
            ("batch", .count(from: 1), "The number of commands of the family that share a job of Slurm."),
        ],
        others: [
            "cmd": "run", "cmds": "run", "command": "run", "commands": "run", "script": "run", "exec": "run",
            "shellcommand": "run", "needs": "after", "deps": "after", "depends": "after", "depends_on": "after",
            "dependson": "after", "dependencies": "after", "requires": "after", "env": "environment",
            "dir": "directory", "cwd": "directory", "workdir": "directory", "working-directory": "directory",
            "pool": "queue", "foreach": "each", "for": "each", "items": "each", "with_items": "each",
            "sources": "inputs", "input": "inputs", "generates": "outputs", "output": "outputs",
            "ignore_error": "mayFail", "continue-on-error": "mayFail", "continue_on_error": "mayFail",
            "allow_failure": "mayFail", "if": "when", "retry": "retries", "timeout-minutes": "timeout",
            "depsfile": "depfile", "interactive": "terminal", "console": "terminal", "tty": "terminal",
        ])

    static let source = KeyTable(
        [
            ("files", .list(.string), "Globs, and files that exist."),
            ("lines", .string, "A file, of which each line is an item."),
            ("command", .string, "A command, of whose output each line is an item."),
        ],
        others: ["glob": "files", "file": "lines", "run": "command"])

    static let retries = KeyTable(
        [
            ("count", .count(from: 0), "The number of runs after the first."),
            ("delay", .duration, "The time before the second run."),
            ("factor", .factor, "The factor by which each delay is longer than the delay before it."),
            ("on", .list(.count(from: 1)), "The exit statuses after which the command runs again."),
        ],
        others: ["limit": "count", "max": "count", "attempts": "count", "backoff": "factor", "interval": "delay"])

    private static let shell = Form.either([.string, .sequence(.string)])
    private static let size = Form.either([.count(from: 0), .string])
}
