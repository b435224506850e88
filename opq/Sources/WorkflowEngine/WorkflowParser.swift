/// A parser that reads a workflow from YAML text.
///
/// The parser continues after an error in the workflow, so that one pass reports all errors. Text that is not YAML ends the
/// parsing.
struct WorkflowParser {
    /// The valid part of the workflow.
    private(set) var workflow = Workflow()
    /// The errors in the text.
    private(set) var diagnostics = Diagnostics()
    /// The YAML document. `nil` if the text is not YAML.
    private(set) var document: YAMLDocument?

    /// Parses `text`. The result is in `workflow`, and the errors are in `diagnostics`.
    init(_ text: String) {
        let start = SourcePosition(line: 1, column: 1)
        do {
            document = try YAMLDocument(text)
        } catch {
            diagnostics.report(error.message, at: error.position, remedy: error.remedy)
            return
        }
        guard let root = document?.root else {
            report("the workflow is empty", at: start, remedy: "give it operations:")
            return
        }
        var hasOperations = false
        for entry in entries(of: root, as: "the workflow", at: start, keys: ["name", "queues", "operations"]) {
            switch entry.key.value {
            case "name": workflow.name = string(in: entry)?.value
            case "queues": workflow.queues += mapping(in: entry).map { queue($0) }
            default:
                hasOperations = true
                workflow.operations += mapping(in: entry).map { operation($0) }
                if entry.value.mapping?.isEmpty == true {
                    report("'operations' holds no operation", at: entry.key.position, remedy: "give it at least one")
                }
            }
        }
        if !hasOperations, root.mapping != nil {
            report("the workflow has no 'operations'", at: root.position, remedy: "add operations:")
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
        for entry in entries(
            of: entry.value, as: "queue '\(queue.name)'", at: entry.key.position, keys: ["concurrency", "quality"])
        {
            if entry.key.value == "concurrency" {
                queue.concurrency = concurrency(in: entry)
            } else if let name = string(in: entry) {
                queue.quality = diagnostics.choice(name, for: "quality") ?? .default
            }
        }
        return queue
    }

    private mutating func concurrency(in entry: Entry) -> Int? {
        guard let concurrency = entry.value.int else {
            mismatch(in: entry, expected: "a whole number")
            return nil
        }
        guard concurrency >= 1 else {
            report(
                "concurrency must be 1 or more, found \(concurrency)", at: entry.position,
                remedy: "leave 'concurrency' out for one operation per processor")
            return nil
        }
        return concurrency
    }

    private mutating func operation(_ entry: Entry) -> OperationDescription {
        var operation = OperationDescription(name: entry.key)
        let keys = ["run", "queue", "after", "priority", "directory", "environment", "barrier", "each"]
        let owner = "operation '\(entry.key.value)'"
        let members = entries(of: entry.value, as: owner, at: entry.key.position, keys: keys)
        for member in members {
            switch member.key.value {
            case "run": operation.run = string(in: member)
            case "queue": operation.queue = string(in: member)
            case "after": operation.after = strings(in: member)
            case "priority": operation.priority = string(in: member)
            case "directory": operation.directory = string(in: member)
            case "environment": operation.environment = environment(in: member)
            case "barrier": operation.isBarrier = bool(in: member) ?? false
            default:
                operation.each = strings(in: member, orNumbers: true)
                if member.value.sequence?.isEmpty == true {
                    report("'each' lists no item", at: member.position, remedy: "give it a glob or a list")
                }
            }
        }
        if entry.value.mapping != nil, !members.contains(where: { $0.key.value == "run" }) {
            report("\(owner) has no 'run'", at: entry.key.position, remedy: "give it the shell command to run")
        }
        return operation
    }

    private mutating func environment(in entry: Entry) -> [(name: String, value: Located<String>)] {
        mapping(in: entry).compactMap { variable in
            let name = variable.key.value
            if name.hasPrefix("OPQ_ITEM") {
                report("'\(name)' is set by opq", at: variable.key.position, remedy: "use another name")
                return nil
            }
            guard let first = name.utf8.first, !(0x30...0x39).contains(first), name.utf8.allSatisfy(\.isInName) else {
                report(
                    "'\(name)' cannot name an environment variable", at: variable.key.position,
                    remedy: "use letters, digits and underscores, with no digit first")
                return nil
            }
            return string(in: variable, orNumber: true).map { (name, $0) }
        }
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter, digit or underscore.
    fileprivate var isInName: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }
}
