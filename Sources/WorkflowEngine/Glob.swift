import Glibc

/// A pattern for paths: `*`, `?` and `[...]` within a component, `**` for any number of directories.
///
/// Hidden files match only a component that names the dot. `**` does not follow symbolic links.
struct Glob {
    /// The pattern, absolute or not.
    let pattern: String

    /// Whether `text` means more than the one path it spells.
    static func isPattern(_ text: String) -> Bool {
        text.contains { "*?[".contains($0) }
    }

    /// The paths that match, sorted, as seen from `directory` unless the pattern is absolute.
    ///
    /// A pattern that ends in a slash matches directories only.
    func matches(in directory: String) -> [String] {
        let components = pattern.split(separator: "/").map(String.init)
        let start = pattern.hasPrefix("/") ? "/" : ""
        let found = Self.matches(components[...], below: start, in: directory)
        let wanted = pattern.hasSuffix("/") ? found.filter { Self.isDirectory($0, in: directory) } : found
        // `a/**/**` meets a path more than once.
        return Set(wanted).sorted()
    }

    /// The paths `prefix` + something that matches `components`; `prefix` is empty or ends in a slash.
    private static func matches(
        _ components: ArraySlice<String>, below prefix: String, in directory: String
    ) -> [String] {
        guard let component = components.first else { return [] }
        let rest = components.dropFirst()
        if component == "**" {
            let directories = names(in: prefix, of: directory).filter { name in
                !name.hasPrefix(".") && isDirectory(prefix + name, in: directory, followingLinks: false)
            }
            return matches(rest.isEmpty ? ["*"] : rest, below: prefix, in: directory)
                + directories.flatMap { matches(components, below: prefix + $0 + "/", in: directory) }
        }
        let names: [String]
        if isPattern(component) {
            names = Self.names(in: prefix, of: directory).filter { fnmatch(component, $0, FNM_PERIOD) == 0 }
        } else {
            names = exists(prefix + component, in: directory) ? [component] : []
        }
        if rest.isEmpty { return names.map { prefix + $0 } }
        return names.filter { isDirectory(prefix + $0, in: directory) }
            .flatMap { matches(rest, below: prefix + $0 + "/", in: directory) }
    }

    private static func names(in path: String, of directory: String) -> [String] {
        guard let stream = opendir(place(path, in: directory)) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = entry.pointee.fileName
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func exists(_ path: String, in directory: String) -> Bool {
        var status = stat()
        return lstat(place(path, in: directory), &status) == 0
    }

    private static func isDirectory(_ path: String, in directory: String, followingLinks: Bool = true) -> Bool {
        var status = stat()
        let place = place(path, in: directory)
        guard (followingLinks ? stat(place, &status) : lstat(place, &status)) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    private static func place(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }
}

extension dirent {
    /// The name of the entry.
    var fileName: String {
        withUnsafePointer(to: d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: d_name)) {
                String(cString: $0)
            }
        }
    }
}
