/// The prerequisites in a file in make's syntax, as compilers write it: `app.o: app.c app.h`.
///
/// A backslash at the end of a line continues the line, `\ ` and `\#` stand for a blank and a number sign, and `$$` for a dollar
/// sign.
struct DepFile: Equatable {
    /// The prerequisites of all rules, in the order of the file, each once.
    let paths: [String]

    /// Reads the text of a file. Text of another form yields the words after the first colon of each line.
    init(_ bytes: [UInt8]) {
        var paths: [String] = []
        var seen: Set<[UInt8]> = []
        var word: [UInt8] = []
        var isTarget = true
        func end() {
            defer { word = [] }
            guard !word.isEmpty, !isTarget, seen.insert(word).inserted else { return }
            paths.append(String(fileName: word))
        }
        var index = 0
        while index < bytes.count {
            let (byte, next) = (bytes[index], index + 1 < bytes.count ? bytes[index + 1] : nil)
            switch (byte, next) {
            case (UInt8(ascii: "\\"), UInt8(ascii: "\n")):
                end()
                index += 1
            case (UInt8(ascii: "\\"), UInt8(ascii: "\r")):
                end()
                index += index + 2 < bytes.count && bytes[index + 2] == UInt8(ascii: "\n") ? 2 : 1
            case (UInt8(ascii: "\\"), UInt8(ascii: " ")?), (UInt8(ascii: "\\"), UInt8(ascii: "#")?),
                (UInt8(ascii: "\\"), UInt8(ascii: ":")?), (UInt8(ascii: "$"), UInt8(ascii: "$")?):
                word.append(next!)
                index += 1
            case (UInt8(ascii: "\n"), _):
                end()
                isTarget = true
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _):
                end()
            // A colon within a word belongs to the word, as in C:/x.h.
            case (UInt8(ascii: ":"), nil), (UInt8(ascii: ":"), UInt8(ascii: " ")?),
                (UInt8(ascii: ":"), UInt8(ascii: "\t")?),
                (UInt8(ascii: ":"), UInt8(ascii: "\n")?), (UInt8(ascii: ":"), UInt8(ascii: "\r")?),
                (UInt8(ascii: ":"), UInt8(ascii: "\\")?) where isTarget:
                word = []
                isTarget = false
            default: word.append(byte)
            }
            index += 1
        }
        end()
        self.paths = paths
    }
}
