import DurableTool
import Testing

@Suite struct CellTextTests {
    @Test(arguments: [
        ("plain", "plain", 5), ("a\u{1B}[31mb", "a\\u{1B}[31mb", 12), ("a\nb\tc\r", "a\\nb\\tc\\r", 9),
        ("\u{202E}x\u{200F}", "\\u{202E}x\\u{200F}", 17), ("名前", "名前", 4), ("e\u{301}", "e\u{301}", 1),
        ("\u{9B}1m", "\\u{9B}1m", 8),
        ("🚀", "🚀", 2), ("", "", 0), ("\u{301}", "\\u{301}", 7), ("--", "--", 2), ("\u{2028}", "\\u{2028}", 8),
    ])
    func `R36: a cell is one visible line of a known width`(_ raw: String, _ text: String, _ width: Int) {
        #expect(CellText(raw).text == text && CellText(raw).width == width)
    }

    @Test func `R36: a long text is cut at any width, and the rest costs nothing`() {
        let long = String(repeating: "x", count: 10 << 20)
        let elapsed = ContinuousClock().measure {
            for limit in 1...300 { #expect(CellText(long, limit: limit).width == limit) }
        }
        #expect(elapsed < .seconds(5))
        #expect(CellText("abcdef", limit: 4).text == "abc…" && CellText("abcd", limit: 4).text == "abcd")
        #expect(CellText("名前名前", limit: 4).text == "名…" && CellText("名前", limit: 1).text == "…")
        #expect(CellText("x\u{1B}", limit: 3).text == "x…")
    }

    @Test func `R36: a million marks above one character are no tower`() {
        let cell = CellText("e" + String(repeating: "\u{301}", count: 1_000_000), limit: 40)
        #expect(cell.width <= 40 && cell.text.unicodeScalars.count { $0.value == 0x301 } <= 3)
    }

    @Test func `R36: no scalar of any plane reaches a terminal as a command`() {
        for value in UInt32(0)...0x2FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let cell = CellText(String(scalar))
            let isSafe = cell.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            if !isSafe || cell.width < 1 { Issue.record("U+\(String(value, radix: 16))") }
        }
    }
}
