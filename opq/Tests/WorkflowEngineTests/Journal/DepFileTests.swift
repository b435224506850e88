import Testing

@testable import WorkflowEngine

struct DepFileTests {
    @Test(
        arguments: [
            ("a.o: a.c a.h\n", ["a.c", "a.h"]), ("a.o b.o: a.c \\\n  b.h\\\n c.h\n", ["a.c", "b.h", "c.h"]),
            ("a.o: my\\ file.c pre#1 x\\#y $$HOME\n", ["my file.c", "pre#1", "x#y", "$HOME"]),
            ("a.o: a.c\n\na.h:\n\nb.h:\n", ["a.c"]), ("a.o: C:/x.h a.c a.c", ["C:/x.h", "a.c"]),
            ("a.o: \\\r\n a.c\r\n", ["a.c"]), ("", []), ("a.o:\\\n a.c", ["a.c"]),
            ("out:h.h\n", ["h.h"]), ("out: tr\\\\ h.h", ["tr\\", "h.h"]), ("C:/x.o: a\\\\\\ b", ["a\\ b"]),
            ("out: a\\b", ["a\\b"]),
        ] as [(String, [String])])
    func `the prerequisites of all rules are read`(text: String, paths: [String]) throws {
        #expect(try DepFile(Array(text.utf8)).paths == paths)
    }

    @Test func `a name that is not UTF-8 is kept`() throws {
        let file = try DepFile(Array("a: ".utf8) + [0xE9, 0x2E, 0x68])
        #expect(file.paths.map(\.fileNameBytes) == [[0xE9, 0x2E, 0x68]])
    }

    @Test(arguments: [("no colon here\n", 1), ("a: b\n\nwords", 3), ("a: \\\n b\nx\n", 3)])
    func `a text without a colon is an error with its line`(text: String, line: Int) {
        #expect(throws: DepFile.BadText(line: line)) { try DepFile(Array(text.utf8)) }
    }
}
