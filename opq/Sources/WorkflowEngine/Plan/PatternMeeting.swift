import Glibc

/// The question whether a pattern can match a path that another pattern or name stands for, without a look at files.
struct PatternMeeting {
    private let components: [String]

    /// Creates the question for a pattern, relative to a directory.
    init(_ pattern: String, in directory: String) { components = Self.components(of: pattern, in: directory) }

    /// Whether the pattern can match an output: a path, a pattern, or a folder with everything in it.
    func canMatch(output: String, in directory: String) -> Bool {
        Self.meet(components[...], Self.components(of: output, in: directory)[...])
    }

    private static func components(of pattern: String, in directory: String) -> [String] {
        let full = FileExaminer.full(pattern, in: directory)
        var components: [String] = full.hasPrefix("/") ? ["/"] : []
        for component in full.split(separator: "/").map(String.init) where component != "." {
            if component == "..", let last = components.last, last != "..", last != "/", !Glob.isPattern(last) {
                components.removeLast()
            } else {
                components.append(component)
            }
        }
        return components
    }

    private static func meet(_ pattern: ArraySlice<String>, _ output: ArraySlice<String>) -> Bool {
        guard let made = output.first else { return true }
        guard let wanted = pattern.first else { return false }
        if wanted == "**" { return meet(pattern.dropFirst(), output) || meet(pattern, output.dropFirst()) }
        if made == "**" { return meet(pattern, output.dropFirst()) || meet(pattern.dropFirst(), output) }
        return meets(wanted, made) && meet(pattern.dropFirst(), output.dropFirst())
    }

    /// Whether two components can stand for the same name.
    private static func meets(_ left: String, _ right: String) -> Bool {
        switch (Glob.isPattern(left), Glob.isPattern(right)) {
        case (false, false): return Glob.literal(left).utf8.elementsEqual(Glob.literal(right).utf8)
        case (true, false): return matches(left, Glob.literal(right))
        case (false, true): return matches(right, Glob.literal(left))
        case (true, true):
            // The names begin and end with the plain parts of both patterns.
            let (starts, ends) = ([left, right].map(start), [left, right].map(end))
            return (starts[0].starts(with: starts[1]) || starts[1].starts(with: starts[0]))
                && (ends[0].starts(with: ends[1]) || ends[1].starts(with: ends[0]))
        }
    }

    private static func matches(_ pattern: String, _ name: String) -> Bool {
        Glob.systemPattern(pattern).withFileName { pattern in name.withFileName { fnmatch(pattern, $0, 0) == 0 } }
    }

    /// The bytes before the first special character.
    private static func start(_ pattern: String) -> [UInt8] {
        Array(pattern.utf8.prefix { !"*?[\\".utf8.contains($0) })
    }

    /// The bytes after the last special character, from the last one to the first.
    private static func end(_ pattern: String) -> [UInt8] {
        pattern.utf8.reversed().prefix { !"*?]\\".utf8.contains($0) }
    }
}
