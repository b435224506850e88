/// The variables in a shell command that have the name of a placeholder, and that the command does not set.
///
/// `rm -rf build/${item}` would remove `build/`, because the shell replaces a variable that is not set by nothing.
struct UnsetVariables {
    /// The variables as the command writes them, and their names, without repetitions.
    private(set) var found: [(text: String, name: String)] = []

    /// Finds the variables with the given names. O(length) for each name.
    init(in command: String, names: Set<String>) {
        let bytes = Array(command.utf8)
        guard bytes.contains(UInt8(ascii: "$")), !names.isEmpty else { return }
        var scanner = ShellScanner()
        var passed = 0
        var index = 0
        var seen: Set<String> = []
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "$") else {
                index += 1
                continue
            }
            let dollar = index
            index += bytes[index + 1] == UInt8(ascii: "$") ? 2 : 1
            guard index == dollar + 1 else { continue }
            let hasBraces = bytes[index] == UInt8(ascii: "{")
            let start = index + (hasBraces ? 1 : 0)
            let name = String(decoding: bytes[start...].prefix(while: \.isInName), as: UTF8.self)
            guard names.contains(name) else { continue }
            let end = start + name.utf8.count
            // A command that gives a default value, or that asks whether there is a value, knows that there may be none.
            if hasBraces, end < bytes.count, ":-=?+".utf8.contains(bytes[end]) { continue }
            scanner.pass(String(decoding: bytes[passed..<dollar], as: UTF8.self))
            passed = dollar
            guard scanner.expandsVariables, !Self.sets(name, in: command) else { continue }
            let text = String(decoding: bytes[dollar..<end], as: UTF8.self) + (hasBraces ? "}" : "")
            if seen.insert(text).inserted { found.append((text, name)) }
        }
    }

    /// Commands that set the variables that they name.
    private static let setters: Set<String> = [
        "for", "getopts", "local", "declare", "typeset", "mapfile", "printf", "read", "readarray", "select", "export",
    ]

    /// Whether a command seems to set a variable.
    private static func sets(_ name: String, in command: String) -> Bool {
        let words = command.utf8.split { !$0.isInName && !"=+$[{.".utf8.contains($0) }.map { String($0) ?? "" }
        return words.contains { $0.hasPrefix("\(name)=") || $0.hasPrefix("\(name)+=") || $0.hasPrefix("\(name)[") }
            || words.contains(name) && words.contains(where: setters.contains)
    }
}
