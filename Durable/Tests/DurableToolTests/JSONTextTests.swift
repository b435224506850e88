import DurableCore
import DurableTool
import Foundation
import Testing

@Suite struct JSONTextTests {
    @Test func `R36: JSON is one line, in the order of the members`() {
        let value = JSONText.members([
            "b": .number(-5), "a": .list([.null, .boolean(true), .text("x")]), "c": .object([]),
            "d": JSONText(3 as Int?),
        ])
        #expect(value.line == #"{"b":-5,"a":[null,true,"x"],"c":{},"d":3}"#)
    }

    @Test func `R36: each text survives JSON, and none reaches a terminal as a command`() throws {
        let texts = [
            "\"\\/\n\r\t\u{1B}[31m\u{0}", "\u{202E}\u{200F}\u{9B}", "名前🚀e\u{301}", "\u{2028}\u{2029}\u{FEFF}",
            "\u{E0001}\u{10FFFD}", "",
            String((0..<0x3000).compactMap { Unicode.Scalar($0) }.map(Character.init)),
        ]
        for text in texts {
            let line = JSONText.text(text).line
            #expect(line.unicodeScalars.allSatisfy { CellText.isVisible($0) })
            let decoded = try JSONDecoder().decode([String].self, from: Data("[\(line)]".utf8))[0]
            #expect(decoded.utf8.elementsEqual(text.utf8))
        }
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000000Z"), (1_800_000_000_123_456, "2027-01-15T08:00:00.123456Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
    ])
    func `R36: an instant has microseconds`(_ microseconds: Int64, _ text: String) {
        #expect(JSONText(DurableInstant(microseconds: microseconds)) == .text(text))
    }
}
