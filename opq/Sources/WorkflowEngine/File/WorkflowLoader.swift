import Glibc
import SystemPackage

/// A loader of a workflow, of the files that it includes, and of its files of environment variables.
struct WorkflowLoader {
    /// The workflow with the contents of all files.
    private(set) var workflow = Workflow()
    /// The errors in the files.
    private(set) var diagnostics = Diagnostics()
    /// The variables of the files named by `dotenv` that this process does not have.
    private(set) var environment: [String: String] = [:]
    /// Whether all files are YAML.
    private(set) var isYAML = true
    /// The paths of the included files, by the numbers in places.
    private var names: [UInt32: String] = [:]
    /// The files that were read, so that each file is included once.
    private var seen: Set<[UInt64]> = []

    /// Loads a workflow from `text`, the contents of a file in the directory `base`.
    init(_ text: String, base: String, identity: [UInt64]? = nil) {
        if let identity { seen.insert(identity) }
        let root = identity.map { [$0] } ?? []
        var parser = WorkflowParser(text)
        isYAML = parser.isYAML
        workflow = parser.workflow
        workflow.origins = [Workflow.Origin(base: base, shell: workflow.shell?.value)]
        diagnostics = parser.diagnostics
        var open = workflow.includes.map { (base: base, path: $0, chain: root) }
        while !open.isEmpty {
            var (base, include, chain) = open.removeFirst()
            let path = Self.path(include.value, in: base)
            guard let text = self.text(of: path, include, chain: &chain) else { continue }
            let number = UInt32(names.count + 1)
            names[number] = path
            parser = WorkflowParser(text, file: number)
            isYAML = isYAML && parser.isYAML
            for diagnostic in parser.diagnostics.inFileOrder { diagnostics.report(diagnostic) }
            let folder = FilePath(path).removingLastComponent()
            let ownBase = folder.isEmpty ? "." : folder.string
            open += parser.workflow.includes.map { (base: ownBase, path: $0, chain: chain) }
            add(parser.workflow, base: ownBase)
        }
        reportRepeatedNames()
        readEnvironment(base)
    }

    /// The diagnostics in the order of the files, in which those of included files have the names of these files.
    func named(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        diagnostics.map { diagnostic in
            var diagnostic = diagnostic
            if let number = diagnostic.position?.file { diagnostic.file = names[number] }
            return diagnostic
        }
    }

    private static func path(_ name: String, in base: String) -> String {
        name.hasPrefix("/") || base == "." ? name : "\(base)/\(name)"
    }

    /// Returns the text of an included file. `nil` if it was included before, or if it cannot be read.
    ///
    /// - Parameter chain: The files that include it, of which each includes the next one. The function adds the file.
    private mutating func text(
        of path: String, _ include: Located<String>, chain: inout [[UInt64]]
    ) -> String? {
        do {
            let file = try WorkflowFile.openRegular(path)
            defer { try? file.close() }
            guard let identity = file.identity else { return nil }
            if chain.contains(identity) {
                throw Diagnostic("the file includes itself, directly or through others", remedy: "remove one include")
            }
            guard seen.insert(identity).inserted else { return nil }
            chain.append(identity)
            return try WorkflowFile.text(of: file)
        } catch let error as Diagnostic {
            diagnostics.report("'\(include.value)': \(error.message)", at: include.position, remedy: error.remedy)
        } catch {
            diagnostics.report("cannot read '\(include.value)': \(error)", at: include.position)
        }
        return nil
    }

    /// Adds the contents of an included file. The variables, the environment and the queues of the including file win.
    private mutating func add(_ other: Workflow, base: String) {
        workflow.origins.append(Workflow.Origin(base: base, shell: other.shell?.value ?? workflow.origins[0].shell))
        for variable in other.variables where !workflow.variables.contains(where: { $0.name == variable.name }) {
            workflow.variables.append(variable)
        }
        for variable in other.environment where !workflow.environment.contains(where: { $0.name == variable.name }) {
            workflow.environment.append(variable)
        }
        for queue in other.queues where !workflow.queues.contains(where: { $0.name == queue.name }) {
            workflow.queues.append(queue)
        }
        workflow.settings.resources.merge(other.settings.resources) { own, _ in own }
        workflow.settings.secrets += other.settings.secrets.filter { !workflow.settings.secrets.contains($0) }
        let origin = workflow.origins.count - 1
        for var operation in other.operations {
            operation.origin = origin
            workflow.operations.append(operation)
        }
    }

    private mutating func reportRepeatedNames() {
        guard workflow.origins.count > 1 else { return }
        var places: [String: SourcePosition] = [:]
        for operation in workflow.operations {
            let position = operation.name.position
            guard let first = places.updateValue(position, forKey: operation.name.value), first.file != position.file
            else { continue }
            let file = names[first.file].map { "'\($0)'" } ?? "the including file"
            diagnostics.report(
                "duplicate operation '\(operation.name.value)'", at: position,
                remedy: "\(file) contains it in line \(first.line): rename one of them")
        }
        if workflow.operations.isEmpty, !diagnostics.hasErrors {
            diagnostics.report("the files have no operation", at: nil, remedy: "add operations:")
        }
    }

    /// Reads the files of environment variables. Faults of a `.env` that the workflow does not name are warnings.
    private mutating func readEnvironment(_ base: String) {
        let files = workflow.environmentFiles ?? [Located(".env", at: SourcePosition(line: 1, column: 1))]
        for file in files {
            let path = Self.path(file.value, in: base)
            let bytes: String
            do {
                let descriptor = try WorkflowFile.openRegular(path)
                defer { try? descriptor.close() }
                bytes = try WorkflowFile.text(of: descriptor)
            } catch {
                let isNamed = workflow.environmentFiles != nil
                if !isNamed, (error as? Errno) == .noSuchFileOrDirectory { continue }
                let text = (error as? Diagnostic)?.message ?? "\(error)"
                diagnostics.report(
                    "cannot read '\(file.value)': \(text)", at: isNamed ? file.position : nil,
                    severity: isNamed ? .error : .warning)
                continue
            }
            let contents = EnvironmentFile(bytes)
            if let line = contents.wrongLine {
                let isNamed = workflow.environmentFiles != nil
                diagnostics.report(
                    "line \(line) of '\(file.value)' sets no variable", at: isNamed ? file.position : nil,
                    remedy: "write NAME=VALUE", severity: isNamed ? .error : .warning)
            }
            for (name, value) in contents.variables where getenv(name) == nil { environment[name] = value }
        }
    }
}
