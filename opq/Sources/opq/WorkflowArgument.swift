import ArgumentParser
import Glibc
import SystemPackage
import WorkflowEngine

/// The argument that names a workflow file, and the values of its variables.
struct WorkflowArgument: ParsableArguments {
    /// The file name that is used without an argument, in the current directory or above it.
    static let defaultNames = ["opq.yml", "opq.yaml"]

    @Argument(
        help: ArgumentHelp(
            "The workflow file, and the operations to run with all those that they need.",
            discussion: "Without a file: opq.yml or opq.yaml, here or in a folder above. - is standard input.",
            valueName: "file and names"),
        completion: .file(extensions: ["yml", "yaml"]))
    var words: [String] = []

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Set a variable of the file.", valueName: "name=value"))
    var assignments: [String] = []

    func validate() throws {
        for assignment in assignments where !assignment.dropFirst().contains("=") || assignment.hasPrefix("=") {
            throw ValidationError("--set must be NAME=VALUE, found '\(assignment)'.")
        }
        if words.contains("") { throw ValidationError("a file name or the name of an operation is empty.") }
        if givenFile == nil, Self.defaultFile == nil {
            throw ValidationError(
                words.first.map { Self.missingFile($0) }
                    ?? "there is no opq.yml or opq.yaml, here or in a folder above: "
                    + "name the workflow file, or begin with 'opq init'.")
        }
    }

    private static func missingFile(_ name: String) -> String {
        "there is no file '\(name)', and no opq.yml or opq.yaml with such an operation."
    }

    /// The file.
    var file: String { givenFile ?? Self.defaultFile ?? Self.defaultNames[0] }

    /// Whether the workflow is a file in a folder, and not a stream.
    var hasFolder: Bool {
        var status = stat()
        return file != "-" && !WorkflowFile.namesDescriptor(file) && stat(file, &status) == 0
            && status.st_mode & S_IFMT == S_IFREG
    }

    /// The names of operations.
    var names: [String] { Array(givenFile == nil ? words[...] : words.dropFirst()) }

    /// The first word, if it is a file: `-`, a path, or a name that ends in `.yml`. Any other name is that of an operation,
    /// unless there is only a file of this name.
    private var givenFile: String? {
        guard let word = words.first, !word.isEmpty else { return nil }
        if word == "-" || word.hasSuffix(".yml") || word.hasSuffix(".yaml") { return word }
        if word.contains("/"), !word.contains("[") { return word }
        return Self.defaultFile == nil && access(word, F_OK) == 0 ? word : nil
    }

    /// The path of the default file.
    static var defaultFile: String? {
        var folder = ""
        // A folder that is its own parent is the root.
        while true {
            for name in defaultNames where access(folder + name, F_OK) == 0 { return folder + name }
            var (here, above) = (stat(), stat())
            guard stat(folder.isEmpty ? "." : folder, &here) == 0, stat(folder + "..", &above) == 0,
                here.st_ino != above.st_ino || here.st_dev != above.st_dev
            else { return nil }
            folder += "../"
        }
    }

    /// The values of variables, by their names.
    var variables: [String: String] {
        let pairs = assignments.map { assignment in
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            return (parts[0], parts[1])
        }
        return Dictionary(pairs) { $1 }
    }

    /// Adds names of operations, and values of variables unless the command line has others.
    mutating func add(names: [String], variables: [String: String]) {
        assignments = variables.sorted { $0.key < $1.key }.map { "\($0)=\($1)" } + assignments
        // The first word is the file then, so that no name is taken for one.
        if !names.isEmpty { words = [file] + names }
    }

    /// Reads the file and returns the plan of all its operations. Prints all errors in the file on standard error.
    ///
    /// - Throws: `ExitCode.badInput` if the file contains an error.
    func plan() throws -> WorkflowPlan {
        let workflow =
            file == "-"
            ? WorkflowFile(in: .standardInput, variables: variables)
            : WorkflowFile(at: FilePath(file), variables: variables)
        var lines = ""
        for diagnostic in workflow.diagnostics { lines += diagnostic.line(in: file) + "\n" }
        standardError.write(lines)
        guard let plan = workflow.plan else { throw ExitCode.badInput }
        return plan
    }
}

/// The options that choose operations of a workflow.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Run this operation without those that it needs.", valueName: "name"))
    var only: [String] = []

    @Option(help: ArgumentHelp("Run this operation and everything after it.", valueName: "name"))
    var from: [String] = []

    @Option(help: ArgumentHelp("Run this operation and those that it needs, and nothing after it.", valueName: "name"))
    var until: [String] = []

    /// Returns the plan of the chosen operations.
    ///
    /// - Throws: `ExitCode.badInput` after printing the reason, if the file contains an error or a name is unknown.
    func plan(of workflow: WorkflowArgument) throws -> WorkflowPlan {
        let plan = try workflow.plan()
        var selection = Selection()
        selection.targets = workflow.names
        (selection.only, selection.from, selection.until) = (only, from, until)
        do {
            return try plan.selecting(selection)
        } catch {
            print("opq: \(error.text)".visible, to: &standardError)
            throw ExitCode.badInput
        }
    }
}
