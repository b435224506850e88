import Glibc

/// A pattern for paths: `*`, `?` and `[...]` within a component, `**` for any number of directories.
///
/// A backslash before `*`, `?`, `[`, `]` or a backslash makes that character literal. A component matches hidden files only if it
/// begins with a dot. `**` does not follow symbolic links.
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

    /// Whether `text` contains a special character of a pattern without a backslash before it.
    static func isPattern(_ text: String) -> Bool { text.hasGlobMark && tokens(of: text).contains { $0.isMark } }

    /// Returns the path that `text` names, if it is no pattern: without the backslashes before special characters.
    static func literal(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        return String(decoding: tokens(of: text).map(\.byte), as: UTF8.self)
    }

    /// Returns the pattern that matches exactly `path`.
    static func escaped(_ path: String) -> String {
        guard path.hasGlobMark || path.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "]") })
        else { return path }
        let bytes = path.utf8.flatMap { isSpecial($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a component of a pattern as `fnmatch` takes it, where a backslash makes any character literal.
    static func systemPattern(_ component: String) -> String {
        guard component.utf8.contains(UInt8(ascii: "\\")) else { return component }
        let bytes = tokens(of: component).flatMap { token in
            isSpecial(token.byte) && !token.isMark && token.byte != UInt8(ascii: "]") || token.isEscaped
                ? [UInt8(ascii: "\\"), token.byte] : [token.byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private struct Token {
        let byte: UInt8
        let isEscaped: Bool

        var isMark: Bool { !isEscaped && "*?[".utf8.contains(byte) }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool { "*?[]\\".utf8.contains(byte) }

    private static func tokens(of text: String) -> [Token] {
        var tokens: [Token] = []
        var isEscaped = false
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            if !isEscaped, byte == UInt8(ascii: "\\"), index + 1 < bytes.count, isSpecial(bytes[index + 1]) {
                isEscaped = true
                continue
            }
            tokens.append(Token(byte: byte, isEscaped: isEscaped))
            isEscaped = false
        }
        return tokens
    }

    /// Whether the components of a pattern match those of a path or of a folder around it. A pattern with `..` matches all.
    static func matches(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return true }
        if first == ".." { return true }
        if first == "." { return matches(pattern.dropFirst(), path) }
        guard let name = path.first else { return false }
        if first == "**" {
            return pattern.count == 1 || matches(pattern.dropFirst(), path) || matches(pattern, path.dropFirst())
        }
        let isMatch = systemPattern(first).withFileName { pattern in
            name.withFileName { fnmatch(pattern, $0, 0) == 0 }
        }
        return isMatch && matches(pattern.dropFirst(), path.dropFirst())
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
        let sorted = wanted.sorted { $0.bytesPrecede($1) }
        let unique = sorted.indices.filter { $0 == 0 || !sorted[$0].hasSameBytes(as: sorted[$0 - 1]) }
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
            names = self.names(in: prefix, matching: Glob.systemPattern(component))
        } else {
            let name = Glob.literal(component)
            names = exists(prefix + name) ? [name] : []
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

extension String {
    /// Whether the text has a character that is special in a pattern, with or without a backslash.
    var hasGlobMark: Bool { utf8.contains { "*?[".utf8.contains($0) } }
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
