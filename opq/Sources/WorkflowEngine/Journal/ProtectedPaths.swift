import Glibc

/// The paths that are never removed after a failure: the inputs of all operations, the workflow file, and all in `.opq`.
///
/// Paths are compared by their folders as the system resolves them, so `./a.c` and `src/../a.c` are one path.
struct ProtectedPaths {
    private struct Pattern {
        let folder: String
        let components: [String]
    }

    private var paths: Set<ByteKey> = []
    private var patterns: [Pattern] = []

    /// Creates the set for a plan. O(inputs).
    ///
    /// - Parameter workflow: The path of the workflow file. `nil` if there is none.
    init(_ plan: WorkflowPlan, workflow: String?) {
        if let workflow { add(workflow, in: ".") }
        for operation in plan.operations {
            for input in operation.settings.inputs ?? [] { add(input, in: operation.directory) }
        }
        for others in plan.otherInputs {
            for input in others.patterns { add(input, in: others.directory) }
        }
    }

    /// Creates the set of declared paths and patterns.
    init(_ declared: [String], in directory: String) {
        for path in declared { add(path, in: directory) }
    }

    /// Whether a path is in the set, or in a folder of it.
    func contains(_ path: String) -> Bool {
        let path = Self.resolved(path)
        let components = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        var ancestor = ""
        for component in components {
            if component == ".opq" { return true }
            ancestor += "/" + component
            if paths.contains(ByteKey(ancestor)) { return true }
        }
        return paths.contains(ByteKey("/"))
            || patterns.contains { pattern in
                let folder = pattern.folder == "/" ? "" : pattern.folder
                guard path.utf8.starts(with: (folder + "/").utf8) else { return false }
                let count = folder.split(separator: "/").count
                return Glob.matches(pattern.components[...], components[count...])
            }
    }

    private mutating func add(_ declared: String, in directory: String) {
        guard Glob.isPattern(declared) else {
            paths.insert(ByteKey(Self.resolved(FileExaminer.full(Glob.literal(declared), in: directory))))
            return
        }
        let components = declared.split(separator: "/").map(String.init)
        let fixed = components.prefix { !Glob.isPattern($0) && $0 != "**" }.map { Glob.literal($0) }
        let start = declared.hasPrefix("/") ? "/" : directory + "/"
        patterns.append(
            Pattern(
                folder: Self.resolved(start + fixed.joined(separator: "/") + "/."),
                components: Array(components.dropFirst(fixed.count))))
    }

    /// Returns the absolute path without links in its folder. The last component itself may be a link or missing.
    static func resolved(_ path: String) -> String {
        var parts = path.split(separator: "/").map(String.init)
        var rest: [String] = []
        let isAbsolute = path.hasPrefix("/")
        if let last = parts.last, last != "..", last != "." { rest = [parts.removeLast()] }
        while true {
            let folder = (isAbsolute ? "/" : "./") + parts.joined(separator: "/")
            if let found = folder.withFileName({ realpath($0, nil) }) {
                defer { free(found) }
                let name = String(fileName: Array(UnsafeRawBufferPointer(start: found, count: strlen(found))))
                return rest.isEmpty ? name : (name == "/" ? "" : name) + "/" + rest.joined(separator: "/")
            }
            guard !parts.isEmpty else { return "/" + rest.joined(separator: "/") }
            let last = parts.removeLast()
            if last != "." { rest.insert(last, at: 0) }
        }
    }
}
