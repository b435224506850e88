import Testing

@testable import WorkflowEngine

struct TerminalRegionTests {
    @Test func `lines are drawn over the earlier ones, and removed`() {
        var region = TerminalRegion()
        #expect(region.draw(["a", "b"], columns: 80) == "a\u{1B}[K\nb\u{1B}[J")
        #expect(region.draw(["c"], columns: 80) == "\r\u{1B}[1Ac\u{1B}[J")
        #expect(region.erase(columns: 80) == "\r\u{1B}[J")
        #expect(region.erase(columns: 80) == "")
    }

    @Test func `lines that a narrower terminal shows in several rows are removed, too`() {
        var region = TerminalRegion()
        _ = region.draw([String(repeating: "x", count: 39), "\u{1B}[31m日本\u{1B}[0m"], columns: 40)
        #expect(region.erase(columns: 10) == "\r\u{1B}[4A\u{1B}[J")
    }

    @Test func `a region that was forgotten is drawn at the cursor`() {
        var region = TerminalRegion()
        _ = region.draw(["a", "b"], columns: 80)
        region.forget()
        #expect(region.draw(["c"], columns: 80) == "c\u{1B}[J")
    }

    @Test(arguments: [
        (["LANG": "C"], true), ([:], true), (["LANG": "de_DE.UTF-8"], false), (["LANG": "C.utf8"], false),
        (["LC_ALL": "C", "LANG": "en_US.UTF-8"], true), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], false),
    ])
    func `the first variable of the locale that is set decides about ASCII`(_ pair: ([String: String], Bool)) {
        #expect(LocaleCharacters.isASCII { pair.0[$0] } == pair.1)
    }
}
