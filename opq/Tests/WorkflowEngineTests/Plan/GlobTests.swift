import Glibc
import Testing

@testable import WorkflowEngine

struct GlobTests {
    @Test(arguments: [
        ("?.x", ["a.x", "é.x"]), ("[é].x", ["é.x"]), ("[!a].x", ["é.x"]), ("*.x", ["a.x", "é.x", "🙂🙂.x"]),
    ])
    func `a question mark and a bracket match a character that is not ASCII`(pattern: String, paths: [String]) throws {
        let directory = try TemporaryDirectory(files: ["a.x", "é.x", "🙂🙂.x"])
        #expect(Glob(pattern: pattern).find(in: directory.path) == Glob.Findings(paths: paths))
    }

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
        #expect(Glob(pattern: pattern).find(in: directory.path) == Glob.Findings(paths: paths))
    }

    @Test(arguments: [
        ("\\[id].js", ["[id].js"]), ("\\**", ["*.x"]), ("a\\\\*", ["a\\b"]), ("[[]*", ["[d]", "[id].js"]),
        ("a\\b*", ["a\\b"]),
        ("\\[d]/*", ["[d]/e"]), ("[\\]x]", ["]", "x"]),
    ])
    func `a backslash makes a special character literal`(pattern: String, paths: [String]) throws {
        let directory = try TemporaryDirectory(files: ["[id].js", "*.x", "a\\b", "i", "x", "]", "[d]/e", "d/e"])
        #expect(Glob(pattern: pattern).find(in: directory.path) == Glob.Findings(paths: paths))
    }

    @Test(arguments: ["a[1].c", "*", "b\\*", "\\", "x]", "plain", "\\[", "é?"])
    func `an escaped name is no pattern, and stands for itself`(name: String) {
        #expect(!Glob.isPattern(Glob.escaped(name)))
        #expect(Glob.literal(Glob.escaped(name)) == name)
    }

    @Test func `a name that begins with a dash is no option`() throws {
        let directory = try TemporaryDirectory(files: ["-rf", "a/-n"])
        #expect(Glob(pattern: "*").find(in: directory.path).paths == ["./-rf", "a"])
        #expect(Glob(pattern: "*/*").find(in: directory.path).paths == ["a/-n"])
        #expect(Item(path: "./-rf").name == "-rf")
    }

    @Test func `two stars do not follow symbolic links to directories`() throws {
        let directory = try TemporaryDirectory(files: ["S/a.c"])
        symlink("S", directory.path + "/link")
        #expect(Glob(pattern: "**/*.c").find(in: directory.path).paths == ["S/a.c"])
        #expect(Glob(pattern: "link/*.c").find(in: directory.path).paths == ["link/a.c"])
    }

    @Test func `an absolute pattern ignores the directory`() throws {
        let directory = try TemporaryDirectory(files: ["a.c"])
        #expect(Glob(pattern: directory.path + "/*.c").find(in: "/nowhere").paths == [directory.path + "/a.c"])
    }

    @Test func `a name that is not UTF-8 is a path, and names that only look equal are two paths`() throws {
        let directory = try TemporaryDirectory(files: ["a.c", "e\u{301}.n", "\u{E9}.n"])
        // Latin-1 for ü.
        let name = String(fileName: [0xFC] + Array(".t".utf8))
        close((directory.path + "/" + name).withFileName { open($0, O_CREAT | O_WRONLY, 0o600) })
        #expect(Glob(pattern: "*.c").find(in: directory.path) == Glob.Findings(paths: ["a.c"]))
        #expect(Glob(pattern: "*.t").find(in: directory.path).paths == [name])
        #expect(name.fileNameBytes == [0xFC, 0x2E, 0x74])
        #expect(name.visible == "\\xFC.t")
        #expect(Glob(pattern: "*.n").find(in: directory.path).paths.map { Array($0.utf8).count } == [5, 4])
        let plan = try #require(
            WorkflowFile("operations: {f: {run: 'cat {item}', each: '*.n'}}", base: directory.path).plan)
        #expect(plan.operations.count == 2)
    }

    @Test func `a directory that cannot be read is reported`() throws {
        let directory = try TemporaryDirectory(files: ["S/a.c"])
        // Permissions do not stop root. A symbolic link to itself cannot be read by any user.
        symlink("loop", directory.path + "/loop")
        let found = Glob(pattern: "loop/*").find(in: directory.path)
        #expect(found.problems.isEmpty)
        guard geteuid() != 0 else { return }
        chmod(directory.path + "/S", 0)
        defer { chmod(directory.path + "/S", 0o700) }
        #expect(
            Glob(pattern: "**/*.c").find(in: directory.path).problems
                == ["cannot read the directory 'S/': Permission denied"])
    }
}
