import DurableTool
import Testing

@Suite struct TableLayoutTests {
    private let columns: [TableLayout.Column] = [
        .init("ID", isRight: true), .init("NAME", isFlexible: true), .init("NOTE", isFlexible: true),
    ]

    @Test func `R36: a table has aligned columns, and no line ends with a space`() {
        let lines = TableLayout.lines(
            columns, [["1", "letter", ""], ["12", "", "late"], ["123", "名前", "x"]], limit: nil)
        #expect(
            lines == [
                " ID  NAME    NOTE",
                "  1  letter",
                " 12          late",
                "123  名前    x",
            ])
    }

    @Test(arguments: 1...120)
    func `R36: no line is wider than the terminal`(_ width: Int) {
        let long = String(repeating: "名\u{202E}", count: 5_000)
        let rows = [["1", "short", "a"], ["100000", long, long], ["", "", long], [long, "", ""]]
        for line in TableLayout.lines(columns, rows, limit: width) { #expect(CellText(line).width <= width) }
    }

    @Test func `R36: a narrow terminal shortens the widest column first`() {
        let rows = [["1", "letter", String(repeating: "x", count: 90)]]
        let lines = TableLayout.lines(columns, rows, limit: 30)
        #expect(lines[1] == " 1  letter  \(String(repeating: "x", count: 17))…")
    }

    @Test func `R36: without a terminal each cell is complete, and one long cell widens no other line`() {
        let long = String(repeating: "x", count: 100_000)
        let lines = TableLayout.lines(columns, [["1", long, "a"], ["2", "b", "c"]], limit: nil)
        #expect(lines[1].contains(long) && lines[2].utf8.count < 60)
    }

    @Test func `R36: rows after the sample fit, too`() {
        let layout = TableLayout(columns, sample: [["1", "a", "b"]], limit: 20)
        #expect(CellText(layout.line(["1000000", "longer name", "longer note"])).width <= 20)
    }
}
