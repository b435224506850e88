/// The links between operations by their declared files: two that make one file, and one that reads a file of another.
///
/// Paths are compared by their text, so a link in the file system may hide that two of them name one file.
struct FileLinks {
    /// Two operations that make the same file, or a file in a folder of the other.
    struct Clash: Equatable {
        let first: Int, second: Int
        /// The position among the outputs of the second operation.
        let output: Int
        let path: String
    }

    /// An operation that reads a file of another operation.
    struct Reading: Equatable {
        let reader: Int, maker: Int
        /// The position among the inputs of the reader.
        let input: Int
        let path: String
    }

    private let operations: [PlannedOperation]
    private var makers: [ByteKey: Int] = [:]
    /// The outputs in the order of their bytes.
    private var outputs: [(path: String, maker: Int)] = []
    private(set) var clashes: [Clash] = []

    /// Finds the links. O(files · log(files)), and O(outputs) more for each pattern among the inputs.
    init(_ operations: [PlannedOperation]) {
        self.operations = operations
        for (index, operation) in operations.enumerated() {
            for (position, output) in (operation.settings.outputs ?? []).enumerated() where !Glob.isPattern(output) {
                let path = Self.path(Glob.literal(output), of: operation)
                outputs.append((path, index))
                guard let other = makers.updateValue(index, forKey: ByteKey(path)), other != index else { continue }
                clash(other, index, position, path)
            }
        }
        guard !outputs.isEmpty else { return }
        outputs.sort { $0.path.bytesPrecede($1.path) }
        for (index, operation) in operations.enumerated() {
            for (position, output) in (operation.settings.outputs ?? []).enumerated() where !Glob.isPattern(output) {
                let path = Self.path(Glob.literal(output), of: operation)
                guard let other = makerOfFolder(around: path), other != index else { continue }
                clash(other, index, position, path)
            }
        }
    }

    private mutating func clash(_ first: Int, _ second: Int, _ output: Int, _ path: String) {
        // One of two alternatives runs only after the failure of another operation.
        if [first, second].contains(where: { operations[$0].settings.condition == .failure }) { return }
        clashes.append(Clash(first: first, second: second, output: output, path: path))
    }

    /// Calls `body` for each file that one operation makes and another reads.
    func forEachReading(_ body: (Reading) -> Void) {
        guard !outputs.isEmpty else { return }
        var known: [[String]: [Int]] = [:]
        for (index, operation) in operations.enumerated() {
            for (position, input) in (operation.settings.inputs ?? []).enumerated() {
                let found: [Int]
                if Glob.isPattern(input) {
                    let key = [operation.directory, input]
                    found = known[key] ?? matches(of: input, operation)
                    known[key] = found
                } else {
                    let path = Self.path(Glob.literal(input), of: operation)
                    found = [makers[ByteKey(path)] ?? makerOfFolder(around: path)].compactMap(\.self) + makers(in: path)
                }
                for maker in found where maker != index {
                    body(Reading(reader: index, maker: maker, input: position, path: Glob.literal(input)))
                }
            }
        }
    }

    private func matches(of pattern: String, _ operation: PlannedOperation) -> [Int] {
        let components = pattern.split(separator: "/").map(String.init).filter { $0 != "." }
        let fixed = components.prefix { !Glob.isPattern($0) && $0 != "**" }.map(Glob.literal)
        let folder = Self.path((pattern.hasPrefix("/") ? "/" : "") + fixed.joined(separator: "/"), of: operation)
        let depth = folder == "." ? 0 : folder.split(separator: "/").count
        let rest = components.dropFirst(fixed.count)
        return indices(in: folder).filter { index in
            let path = outputs[index].path.split(separator: "/").dropFirst(depth).map(String.init)
            return Glob.matches(rest, path[...])
        }.map { outputs[$0].maker }
    }

    private func makers(in folder: String) -> [Int] { indices(in: folder).map { outputs[$0].maker } }

    /// Returns the positions of the outputs in a folder and below.
    private func indices(in folder: String) -> Range<Int> {
        if folder == "." {
            let absolute = position(of: "/")..<position(of: "0")
            return absolute.isEmpty ? outputs.indices : absolute.upperBound..<outputs.count
        }
        let prefix = folder == "/" ? "/" : folder + "/"
        let first = position(of: prefix)
        // Few inputs are folders of outputs.
        guard first < outputs.count, outputs[first].path.utf8.starts(with: prefix.utf8) else {
            return first..<first
        }
        // The byte after the slash ends the outputs with this prefix.
        return first..<position(of: String(prefix.dropLast()) + "0")
    }

    /// Returns the position of the first output whose path is not less than a text.
    private func position(of text: String) -> Int {
        var (lower, upper) = (0, outputs.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if outputs[middle].path.bytesPrecede(text) {
                lower = middle + 1
            } else {
                upper = middle
            }
        }
        return lower
    }

    private func makerOfFolder(around path: String) -> Int? {
        var folder = path
        while let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = String(folder[..<slash])
            if let maker = makers[ByteKey(folder.isEmpty ? "/" : folder)] { return maker }
            if folder.isEmpty { return nil }
        }
        return path == "." || path.hasPrefix("/") ? nil : makers[ByteKey(".")]
    }

    /// Returns the path of a declared file, relative to the current directory, without `.` and `..`.
    static func path(_ declared: String, of operation: PlannedOperation) -> String {
        let path = FileExaminer.full(declared, in: operation.directory)
        var previous = UInt8(ascii: "/")
        let isPlain =
            !path.isEmpty && path.utf8.last != previous
            && path.utf8.dropFirst().allSatisfy { byte in
                defer { previous = byte }
                return previous != UInt8(ascii: "/") || byte != UInt8(ascii: ".") && byte != UInt8(ascii: "/")
            } && path.utf8.first != UInt8(ascii: ".")
        if isPlain { return path }
        var components: [Substring] = []
        for component in path.split(separator: "/") where component != "." {
            if component == "..", let last = components.last, last != ".." {
                components.removeLast()
            } else {
                components.append(component)
            }
        }
        let text = (path.hasPrefix("/") ? "/" : "") + components.joined(separator: "/")
        return text.isEmpty ? "." : text
    }
}

/// The question whether one operation waits for another, directly or not.
struct WaitOrder {
    private let operations: [PlannedOperation]
    private let barriers: BarrierOrder
    private var known: (waiting: Int, awaited: Set<Int>)?
    /// The number of links that may still be walked. Beyond it, each operation counts as waiting for each other.
    private var left = 20_000_000

    init(_ operations: [PlannedOperation], barriers: BarrierOrder) {
        (self.operations, self.barriers) = (operations, barriers)
    }

    /// Whether the operation `waiting` waits for the operation `awaited`. O(1) for direct links, and otherwise O(links) for a
    /// question about another waiting operation than the last.
    mutating func does(_ waiting: Int, waitFor awaited: Int) -> Bool {
        if operations[waiting].awaited.contains(where: { $0.contains(awaited) }) { return true }
        if let known, known.waiting == waiting { return known.awaited.contains(awaited) || left <= 0 }
        var found: Set<Int> = []
        var seen: Set<Range<Int>> = []
        var open = [waiting]
        while let index = open.popLast(), left > 0 {
            let ahead = barriers.ahead[index].map { [$0..<$0 + 1] } ?? []
            for range in operations[index].awaited + ahead where seen.insert(range).inserted {
                left -= range.count
                for index in range where found.insert(index).inserted { open.append(index) }
            }
            for index in barriers.gathered[index] ?? [] where found.insert(index).inserted { open.append(index) }
        }
        known = (waiting, found)
        return found.contains(awaited) || left <= 0
    }
}
