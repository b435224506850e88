import Glibc

/// A pattern for paths: `*`, `?` and `[...]` within a component, `**` for any number of directories.
///
/// Hidden files match only a component that names the dot. `**` does not follow symbolic links.
struct Glob {
    /// Finds what a pattern matches, as seen from a directory.
    typealias Finder = (_ pattern: String, _ directory: String) -> Findings

    /// What was found, and what kept some from being found.
    struct Findings: Equatable {
        /// The paths that match, sorted.
        var paths: [String] = []
        /// What else may match.
        var problems: [Problem] = []
    }

    /// Something that may match and cannot be told.
    struct Problem: Equatable {
        enum Kind { case unreadable, notUTF8 }

        let kind: Kind
        let text: String
    }

    /// The pattern, absolute or not.
    let pattern: String

    /// Whether `text` means more than the one path it spells.
    static func isPattern(_ text: String) -> Bool {
        text.contains { "*?[".contains($0) }
    }

    /// What matches as seen from `directory`, unless the pattern is absolute.
    ///
    /// A pattern that ends in a slash matches directories only.
    func find(in directory: String) -> Findings {
        let components = pattern.split(separator: "/").map(String.init)
        var search = GlobSearch(directory: directory)
        let found = search.matches(components[...], below: pattern.hasPrefix("/") ? "/" : "")
        let wanted = pattern.hasSuffix("/") ? found.filter { search.isDirectory($0) } : found
        // `a/**/**` meets a path more than once.
        return Findings(paths: Set(wanted).sorted(), problems: search.problems)
    }
}

/// A search for what a pattern matches.
private struct GlobSearch {
    let directory: String
    private(set) var problems: [Glob.Problem] = []

    init(directory: String) { self.directory = directory }

    /// The paths `prefix` + something that matches `components`; `prefix` is empty or ends in a slash.
    mutating func matches(_ components: ArraySlice<String>, below prefix: String) -> [String] {
        guard let component = components.first else { return [] }
        let rest = components.dropFirst()
        if component == "**" {
            let directories = names(in: prefix, matching: "*").filter { name in
                isDirectory(prefix + name, followingLinks: false)
            }
            var found = matches(rest.isEmpty ? ["*"] : rest, below: prefix)
            for name in directories { found += matches(components, below: prefix + name + "/") }
            return found
        }
        let names: [String]
        if Glob.isPattern(component) {
            names = self.names(in: prefix, matching: component)
        } else {
            names = exists(prefix + component) ? [component] : []
        }
        if rest.isEmpty { return names.map { prefix + $0 } }
        return names.filter { isDirectory(prefix + $0) }.flatMap { matches(rest, below: prefix + $0 + "/") }
    }

    private mutating func names(in path: String, matching pattern: String) -> [String] {
        guard let stream = opendir(place(path)) else {
            if errno != ENOENT, errno != ENOTDIR {
                report(
                    .unreadable, "cannot read the directory '\(path.isEmpty ? directory : path)': \(errorText(errno))")
            }
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            guard entry.pointee.matches(pattern) else { continue }
            guard let name = entry.pointee.validName else {
                report(.notUTF8, "the name '\(path)\(entry.pointee.fileName)' is not UTF-8")
                continue
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private mutating func report(_ kind: Glob.Problem.Kind, _ text: String) {
        let problem = Glob.Problem(kind: kind, text: text)
        if !problems.contains(problem) { problems.append(problem) }
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(place(path), &status) == 0
    }

    func isDirectory(_ path: String, followingLinks: Bool = true) -> Bool {
        var status = stat()
        let place = place(path)
        guard (followingLinks ? stat(place, &status) : lstat(place, &status)) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    private func place(_ path: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }
}

extension dirent {
    /// The name of the entry; what is not UTF-8 in it is replaced.
    var fileName: String { withName { String(decoding: $0, as: UTF8.self) } }

    /// The name of the entry; `nil` if it is not UTF-8.
    fileprivate var validName: String? { withName { String(validating: $0, as: UTF8.self) } }

    /// Whether the name, UTF-8 or not, matches a pattern.
    fileprivate func matches(_ pattern: String) -> Bool {
        withUnsafePointer(to: d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: d_name)) {
                fnmatch(pattern, $0, FNM_PERIOD) == 0
            }
        }
    }

    private func withName<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafePointer(to: d_name) { name in
            name.withMemoryRebound(to: UInt8.self, capacity: MemoryLayout.size(ofValue: d_name)) {
                body(
                    UnsafeBufferPointer(
                        start: $0,
                        count: strnlen(
                            UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self), MemoryLayout.size(ofValue: d_name)
                        )))
            }
        }
    }
}
