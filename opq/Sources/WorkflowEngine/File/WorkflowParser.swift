/// A parser that reads a workflow from YAML text.
///
/// The parser continues after an error in the workflow, so that one pass reports all errors. Text that is not YAML ends the
/// parsing.
struct WorkflowParser {
    /// The keys whose effect is missing. The parser refuses them, because a key without its effect would mislead.
    static let pending: Set<String> = []

    /// The valid part of the workflow.
    private(set) var workflow = Workflow()
    /// The errors in the text.
    var diagnostics = Diagnostics()
    /// Whether the text is YAML.
    private(set) var isYAML = false
    /// The number of entries that merge keys may still add. Aliases of aliases could add exponentially many.
    var mergesLeft = 1_000_000

    /// Parses `text`. The result is in `workflow`, and the errors are in `diagnostics`.
    ///
    /// - Parameter file: The number of the file in places. The number of an included file is above 0.
    init(_ text: String, file: UInt32 = 0) {
        let start = SourcePosition(line: 1, column: 1, file: file)
        let document: YAMLDocument
        do {
            document = try YAMLDocument(text, file: file)
        } catch {
            diagnostics.report(error)
            return
        }
        isYAML = true
        guard let root = document.root else {
            report("the workflow is empty", at: start, remedy: "give it operations:")
            return
        }
        var hasOperations = false
        for entry in entries(of: root, as: "the workflow", at: start, in: .workflow) {
            if entry.key.value == "operations" { hasOperations = true }
            read(entry)
        }
        if !hasOperations, root.mapping != nil, file == 0, workflow.includes.isEmpty {
            report("the workflow has no 'operations'", at: root.position, remedy: "add operations:")
        }
    }

    private mutating func read(_ entry: Entry) {
        switch entry.key.value {
        case "name": workflow.name = string(in: entry)?.value
        case "vars": workflow.variables = variables(in: entry)
        case "environment": workflow.environment = environment(in: entry)
        case "dotenv": workflow.environmentFiles = environmentFiles(in: entry)
        case "secrets": workflow.settings.secrets = strings(in: entry).map(\.value)
        case "include": workflow.includes = strings(in: entry)
        case "shell": workflow.shell = shell(in: entry)
        case "grace": workflow.settings.grace = duration(in: entry) ?? workflow.settings.grace
        case "resources": workflow.settings.resources = amounts(in: entry)
        case "jobserver": workflow.settings.offersJobserver = bool(in: entry) ?? false
        case "queues": workflow.queues += mapping(in: entry).map { queue($0) }
        default:
            let members = mapping(in: entry)
            workflow.operations.reserveCapacity(members.count)
            for member in members { workflow.operations.append(operation(member)) }
            if entry.value.mapping?.isEmpty == true {
                report("'operations' holds no operation", at: entry.key.position, remedy: "give it at least one")
            }
        }
    }

    /// Reports an error at `position`.
    mutating func report(_ message: String, at position: SourcePosition, remedy: String? = nil) {
        diagnostics.report(message, at: position, remedy: remedy)
    }

    private mutating func queue(_ entry: Entry) -> QueueDescription {
        var queue = QueueDescription(name: entry.key.value)
        // A queue with only a name, as in `tests:`, has default values.
        if entry.value.isNull { return queue }
        for entry in entries(of: entry.value, as: "queue '\(queue.name)'", at: entry.key.position, in: .queue) {
            if entry.key.value == "concurrency" {
                queue.concurrency = count(in: entry, from: 1, remedy: "leave it out for one operation per processor")
            } else if let name = string(in: entry) {
                queue.quality = diagnostics.choice(name, for: "quality") ?? .default
            }
        }
        return queue
    }

    private mutating func variables(in entry: Entry) -> [(name: String, value: Located<String>)] {
        mapping(in: entry).compactMap { variable in
            checkPlaceholder(variable.key)
            return string(in: variable, orNumber: true).map { (variable.key.value, $0) }
        }
    }

    /// Reports a name that cannot be a placeholder.
    mutating func checkPlaceholder(_ name: Located<String>) {
        if name.value.lowercased().hasPrefix("item") {
            report("'\(name.value)' is a placeholder of opq", at: name.position, remedy: "use another name")
        } else if !name.value.isVariableName {
            report(
                "'\(name.value)' cannot be a placeholder", at: name.position,
                remedy: "use letters, digits and underscores, with no digit first")
        }
    }

    private mutating func environmentFiles(in entry: Entry) -> [Located<String>]? {
        switch entry.value.bool {
        case true?: nil
        case false?: []
        default: strings(in: entry)
        }
    }

    /// Returns the environment variables in `entry`.
    mutating func environment(in entry: Entry) -> [(name: String, value: Located<String>)] {
        mapping(in: entry).compactMap { variable in
            let name = variable.key.value
            if name.hasPrefix("OPQ_ITEM") {
                report("'\(name)' is set by opq", at: variable.key.position, remedy: "use another name")
                return nil
            }
            guard name.isVariableName else {
                report(
                    "'\(name)' cannot name an environment variable", at: variable.key.position,
                    remedy: "use letters, digits and underscores, with no digit first")
                return nil
            }
            return string(in: variable, orNumber: true).map { (name, $0) }
        }
    }
}

extension String {
    /// Whether the text is letters, digits and underscores of ASCII, with no digit first.
    var isVariableName: Bool {
        guard let first = utf8.first, !first.isDigit else { return false }
        return utf8.allSatisfy(\.isInName)
    }
}
