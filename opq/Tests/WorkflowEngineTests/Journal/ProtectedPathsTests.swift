import Glibc
import Testing

@testable import WorkflowEngine

struct ProtectedPathsTests {
    @Test func `inputs are protected under each of their names, and so is all in a folder that is an input`() throws {
        let directory = try TemporaryDirectory(files: ["src/a.c", "lib/x/y.h", "b.o", ".opq/w/journal"])
        symlink("src", directory.path + "/link")
        let paths = ProtectedPaths(
            ["src/a.c", "lib", "gen/**/*.h", "\\[id].c", "[ab].txt"], in: directory.path)
        for name in [
            "src/a.c", "./src/../src/a.c", "link/a.c", "lib/x/y.h", "lib", "gen/a.h", "gen/new/a.h", ".opq/w/journal",
            "[id].c", "a.txt",
        ] { #expect(paths.contains(directory.path + "/" + name), "\(name)") }
        for name in ["b.o", "src/b.c", "library", "gen/a.c", "i.c", "c.txt", "src"] {
            #expect(!paths.contains(directory.path + "/" + name), "\(name)")
        }
    }

    @Test func `a path without its folder is complete nevertheless`() {
        #expect(ProtectedPaths.resolved("/no/such/./file") == "/no/such/file")
        #expect(ProtectedPaths.resolved("/file") == "/file")
    }
}
