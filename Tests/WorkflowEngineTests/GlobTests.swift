import Testing

@testable import WorkflowEngine

struct GlobTests {
    @Test(arguments: [
        ("*.swift", ["a.swift", "b.swift"]), ("?.swift", ["a.swift", "b.swift"]), ("[b-z].swift", ["b.swift"]),
        (".*", [".git", ".hidden"]), ("S/*", ["S/c.swift", "S/d"]),
        ("**/*.swift", ["S/c.swift", "S/d/e.swift", "a.swift", "b.swift"]),
        ("S/**", ["S/c.swift", "S/d", "S/d/e.swift"]),
        ("**/d/*", ["S/d/e.swift"]), ("**/**/e.swift", ["S/d/e.swift"]), ("*/", ["S"]),
        ("./*.txt", ["./n.txt"]), ("S/../n*", ["S/../n.txt"]), ("none/*", []), ("n.txt/*", []),
    ])
    func `a pattern matches as in a shell`(pattern: String, paths: [String]) throws {
        let directory = try TemporaryDirectory(files: [
            "a.swift", "b.swift", "n.txt", ".hidden", "S/c.swift", "S/.x", "S/d/e.swift", ".git/f.swift",
        ])
        #expect(Glob(pattern: pattern).matches(in: directory.path) == paths)
    }

    @Test func `an absolute pattern stands for itself`() throws {
        let directory = try TemporaryDirectory(files: ["a.c"])
        #expect(Glob(pattern: directory.path + "/*.c").matches(in: "/nowhere") == [directory.path + "/a.c"])
    }
}
