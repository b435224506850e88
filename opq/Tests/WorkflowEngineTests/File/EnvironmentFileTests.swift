import Testing

@testable import WorkflowEngine

struct EnvironmentFileTests {
    @Test(
        arguments: [
            ("A=b", "b"), ("export A=b", "b"), ("A = b", nil), ("A=", ""), ("  A=b c  ", "b c"), ("A=b # c", "b"),
            ("A=b#c", "b#c"),
            ("A='b # c' # d", "b # c"), ("A=\"b\\n\\\"c\\\\\"", "b\n\"c\\"), ("A='b\\n'", "b\\n"), ("A=\"b", nil),
            ("1A=b", nil),
            ("A='b'c", nil), ("A=$HOME", "$HOME"), ("A=#b", "#b"),
        ] as [(String, String?)])
    func `a line sets a variable`(line: String, value: String?) {
        let file = EnvironmentFile(line)
        #expect(file.variables.first?.value == value)
        #expect((file.wrongLine == nil) == (value != nil))
    }

    @Test func `empty lines and comments are ignored, and the first wrong line is named`() {
        let file = EnvironmentFile("\n# A=b\nA=1\r\nwrong\nB=2\nalso wrong")
        #expect(file.variables.map(\.name) == ["A", "B"])
        #expect(file.variables.map(\.value) == ["1", "2"])
        #expect(file.wrongLine == 4)
    }
}
