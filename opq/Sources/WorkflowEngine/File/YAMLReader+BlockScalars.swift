extension YAMLReader {
    private enum Chomping { case strip, clip, keep }

    /// Reads a scalar after `|` or `>`, whose lines are indented by more than `parent`.
    mutating func blockScalar(in parent: Int) throws(Diagnostic) -> String {
        let isFolded = current == UInt8(ascii: ">")
        offset += 1
        var (chomping, indentation) = try blockScalarHeader(in: parent)
        var bytes: [UInt8] = []
        // The line break after the last line, and the empty lines after it, count only if another line follows.
        var hasBreak = false
        var emptyLines = try skipEmptyLines(in: parent, &indentation)
        var wasBlank = false
        while !isAtEnd, column == indentation {
            // Lines that begin with a blank are not folded.
            let beginsWithBlank = isBlank(current)
            if isFolded, hasBreak, !wasBlank, !beginsWithBlank {
                if emptyLines == 0 { bytes.append(UInt8(ascii: " ")) }
            } else if hasBreak {
                bytes.append(UInt8(ascii: "\n"))
            }
            bytes += repeatElement(UInt8(ascii: "\n"), count: emptyLines)
            wasBlank = beginsWithBlank
            let start = offset
            skipLine()
            bytes += text[start..<offset]
            hasBreak = !isAtEnd
            if hasBreak { skipBreak() }
            emptyLines = try skipEmptyLines(in: parent, &indentation)
        }
        if chomping != .strip, hasBreak { bytes.append(UInt8(ascii: "\n")) }
        if chomping == .keep { bytes += repeatElement(UInt8(ascii: "\n"), count: emptyLines) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the rest of the line of `|` or `>`.
    private mutating func blockScalarHeader(in parent: Int) throws(Diagnostic) -> (Chomping, indentation: Int?) {
        var chomping: Chomping?
        var indentation: Int?
        header: while true {
            switch current {
            case UInt8(ascii: "-") where chomping == nil: chomping = .strip
            case UInt8(ascii: "+") where chomping == nil: chomping = .keep
            case UInt8(ascii: "1")...UInt8(ascii: "9") where indentation == nil:
                indentation = max(parent, 0) + Int(current - UInt8(ascii: "0"))
            default: break header
            }
            offset += 1
        }
        skipBlanks()
        if current == UInt8(ascii: "#") { skipLine() }
        guard isAtEnd || isBreak(current) else {
            throw invalid("the text must begin in the line after '|' or '>'", at: position(), remedy: Self.wholeValue)
        }
        if !isAtEnd { skipBreak() }
        return (chomping ?? .clip, indentation)
    }

    /// Skips empty lines and the indentation of the next line. The first line that is not empty decides the indentation.
    ///
    /// - Returns: The number of empty lines.
    private mutating func skipEmptyLines(in parent: Int, _ indentation: inout Int?) throws(Diagnostic) -> Int {
        var lines = 0
        var widest = 0
        while true {
            while current == UInt8(ascii: " "), column < indentation ?? .max { offset += 1 }
            widest = max(widest, column)
            if current == UInt8(ascii: "\t"), column < indentation ?? .max { throw indentedByTab }
            guard isBreak(current) else { break }
            skipBreak()
            lines += 1
        }
        if indentation == nil { indentation = max(widest, parent + 1, 1) }
        return lines
    }
}
