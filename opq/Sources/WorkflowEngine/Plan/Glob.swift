import Glibc

/// A pattern for paths: `*`, `?` and `[...]` within a component, `**` for any number of directories.
///
/// A component matches hidden files only if it begins with a dot. `**` does not follow symbolic links.
struct Glob {
    /// The matches of a pattern, and the problems of the search.
    struct Findings: Equatable {
        /// The paths that match, in the order of their bytes.
        var paths: [String] = []
        /// The places where the search could not look.
        var problems: [String] = []
    }

    /// The pattern. The pattern may be absolute or relative.
    let pattern: String

    /// Whether `text` contains a special character of a pattern.
    static func isPattern(_ text: String) -> Bool {
        text.contains { "*?[".contains($0) }
    }

    /// Returns the matches of the pattern. A relative pattern is resolved against `directory`.
    ///
    /// A pattern that ends in a slash matches directories only.
    func find(in directory: String) -> Findings {
        let components = pattern.split(separator: "/").map(String.init)
        var search = GlobSearch(directory: directory)
        let found = search.matches(components[...], below: pattern.hasPrefix("/") ? "/" : "")
        let wanted = pattern.hasSuffix("/") ? found.filter { search.isDirectory($0) } : found
        // A pattern such as `a/**/**` finds a path more than once. Bytes are compared: equal strings may be different names.
        let sorted = wanted.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let unique = sorted.indices.filter { $0 == 0 || !sorted[$0].utf8.elementsEqual(sorted[$0 - 1].utf8) }
        // A program would take a name that begins with a dash for an option.
        let paths = unique.map { sorted[$0].hasPrefix("-") ? "./" + sorted[$0] : sorted[$0] }
        return Findings(paths: paths, problems: search.problems)
    }
}

/// A search for the matches of one pattern, which collects the problems.
private struct GlobSearch {
    let directory: String
    private(set) var problems: [String] = []

    /// The locale in which names are UTF-8. nil if the system has no such locale.
    private nonisolated(unsafe) static let locale: locale_t? = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

    init(directory: String) { self.directory = directory }

    /// Returns the paths below `prefix` that match `components`. `prefix` is empty or ends with a slash.
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
        guard let stream = place(path).withFileName({ opendir($0) }) else {
            if errno != ENOENT, errno != ENOTDIR {
                report("cannot read the directory '\(path.isEmpty ? directory : path)': \(errorText(errno))")
            }
            return []
        }
        defer { closedir(stream) }
        // Without a locale, `?` and `[...]` would match single bytes.
        let locale = Self.locale.map { uselocale($0) }
        defer { if let locale { uselocale(locale) } }
        var names: [String] = []
        while let entry = readdir(stream) {
            guard entry.pointee.matches(pattern) else { continue }
            let name = entry.pointee.fileName
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private mutating func report(_ problem: String) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    private func exists(_ path: String) -> Bool {
        var status = stat()
        return place(path).withFileName { lstat($0, &status) } == 0
    }

    func isDirectory(_ path: String, followingLinks: Bool = true) -> Bool {
        var status = stat()
        let result = place(path).withFileName { followingLinks ? stat($0, &status) : lstat($0, &status) }
        guard result == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    private func place(_ path: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }
}

extension dirent {
    /// The name of the entry.
    var fileName: String { withName { String(fileName: $0) } }

    /// Whether the name matches a pattern. The name need not be UTF-8.
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
