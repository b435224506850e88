import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

struct OutputLinesTests {
    private func append(_ text: String, to spool: OutputSpool) {
        var text = text
        text.withUTF8 { spool.append(UnsafeRawBufferPointer($0)) }
    }

    @Test func `lines come as soon as they are complete, also from a file, and the last one at the end`() throws {
        let spool = OutputSpool(in: SpoolDirectory())
        var lines = OutputLines()
        append("one\ntw", to: spool)
        #expect(try lines.take(from: spool).map { String(decoding: $0, as: UTF8.self) } == ["one"])
        append("o\nthree", to: spool)
        #expect(try lines.take(from: spool).map { String(decoding: $0, as: UTF8.self) } == ["two"])
        let long = String(repeating: "x", count: 40_000) + "\n"
        append(long, to: spool)
        append(long, to: spool)
        append("end", to: spool)
        #expect(try lines.take(from: spool).map(\.count) == [40_005, 40_000])
        #expect(try lines.take(from: spool, isAtEnd: true) == [Array("end".utf8)])
        #expect(try lines.take(from: spool, isAtEnd: true).isEmpty)
    }

    @Test(arguments: [
        ("10%\r20%\r\n", ["20%"]), ("a\r\nb\r\n", ["a", "b"]), ("\n\n", ["", ""]), ("\r", [""]), ("", []),
    ])
    func `of a line that is written again and again, the last state is shown`(text: String, expected: [String]) throws {
        let spool = OutputSpool(in: SpoolDirectory())
        append(text, to: spool)
        var lines = OutputLines()
        #expect(
            try lines.take(from: spool, isAtEnd: true).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `a line without an end is shown in parts`() {
        var lines = OutputLines()
        var found: [[UInt8]] = []
        lines.add([UInt8](repeating: 1, count: OutputLines.longest + 5), to: &found)
        #expect(found.map(\.count) == [OutputLines.longest + 5])
    }

    @Test func `new output is announced once until it is read`() {
        let spool = OutputSpool(in: SpoolDirectory())
        let news = Journal<Int>()
        spool.notifyGrowth { news.append(1) }
        append("a", to: spool)
        append("b", to: spool)
        #expect(news.entries.count == 1)
        spool.takeNews()
        append("c", to: spool)
        #expect(news.entries.count == 2)
    }
}
