/// The prerequisites in a file in make's syntax, as compilers write it: `app.o: app.c app.h`.
///
/// A backslash at the end of a line continues the line, `\ ` and `\#` stand for a blank and a number sign, and `$$` for a dollar
/// sign.
struct DepFile: Equatable {
    /// The prerequisites of all rules, in the order of the file, each once.
    let paths: [String]

    /// The text is no list of prerequisites in make's syntax.
    struct BadText: Error, Equatable {
        /// The number of the first line that is wrong.
        let line: Int
    }

    /// Reads the text of a file.
    ///
    /// - Throws: ``BadText`` if a line has words and no colon.
    init(_ bytes: [UInt8]) throws(BadText) {
        var paths: [String] = []
        var seen: Set<[UInt8]> = []
        var word: [UInt8] = []
        var isTarget = true
        var hasTarget = false
        var line = 1
        func end() {
            defer { word = [] }
            if isTarget, !word.isEmpty { hasTarget = true }
            guard !word.isEmpty, !isTarget, seen.insert(word).inserted else { return }
            paths.append(String(fileName: word))
        }
        func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                let start = index
                while byte(at: index + 1) == UInt8(ascii: "\\") { index += 1 }
                let count = index + 1 - start
                let slashes = { (count: Int) in [UInt8](repeating: UInt8(ascii: "\\"), count: count) }
                switch byte(at: index + 1) {
                case UInt8(ascii: "\n")?, UInt8(ascii: "\r")?:
                    // The last one continues the line.
                    word += slashes(count - 1)
                    end()
                    index += 1
                    if bytes[index] == UInt8(ascii: "\r"), byte(at: index + 1) == UInt8(ascii: "\n") { index += 1 }
                    line += 1
                case let next? where " \t#:".utf8.contains(next):
                    // Pairs stand for one each, and a single one makes the character after it a part of the name.
                    word += slashes(count / 2)
                    if count % 2 == 1 {
                        word.append(next)
                        index += 1
                    }
                default: word += slashes(count)
                }
            case UInt8(ascii: "$") where byte(at: index + 1) == UInt8(ascii: "$"):
                word.append(UInt8(ascii: "$"))
                index += 1
            case UInt8(ascii: "\n"):
                end()
                if isTarget, hasTarget { throw BadText(line: line) }
                (isTarget, hasTarget) = (true, false)
                line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): end()
            // The colon of a drive belongs to the name, as in C:/x.h.
            case UInt8(ascii: ":") where isTarget && !(word.count == 1 && byte(at: index + 1) == UInt8(ascii: "/")):
                word = []
                isTarget = false
            case let byte: word.append(byte)
            }
            index += 1
        }
        end()
        if isTarget, hasTarget { throw BadText(line: line) }
        self.paths = paths
    }
}
