import Glibc

/// A pattern for paths: `*`, `?` and `[...]` within a component, `**` for any number of directories.
///
/// A component matches hidden files only if it begins with a dot. `**` does not follow symbolic links.
struct Glob {
    /// A function that returns the paths that match a pattern, relative to a directory.
    typealias Finder = (_ pattern: String, _ directory: String) -> Findings

    /// The matches of a pattern, and the problems of the search.
    struct Findings: Equatable {
        /// The paths that match, sorted.
        var paths: [String] = []
        /// The places where the search could not look, or could not use the names.
        var problems: [Problem] = []
    }

    /// A place that may contain matches but that the search cannot use.
    struct Problem: Equatable {
        enum Kind { case unreadable, notUTF8 }

        let kind: Kind
        let text: String
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
        // A pattern such as `a/**/**` finds a path more than once.
        return Findings(paths: Set(wanted).sorted(), problems: search.problems)
    }
}

/// A search for the matches of one pattern, which collects the problems.
private struct GlobSearch {
    let directory: String
    private(set) var problems: [Glob.Problem] = []

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
        guard let stream = opendir(place(path)) else {
            if errno != ENOENT, errno != ENOTDIR {
                report(
                    .unreadable, "cannot read the directory '\(path.isEmpty ? directory : path)': \(errorText(errno))")
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
    /// The name of the entry, in which replacement characters stand for invalid UTF-8.
    var fileName: String { withName { String(decoding: $0, as: UTF8.self) } }

    /// The name of the entry. `nil` if the name is not UTF-8.
    fileprivate var validName: String? { withName { String(validating: $0, as: UTF8.self) } }

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
