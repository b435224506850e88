import Glibc
import Testing

@testable import WorkflowEngine

struct RunStoreTests {
    @Test func `a store that is gone holds no lock, although a child that has not run its program has a copy`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        do {
            let store = try RunStore(of: directory.path + "/w.yml")
            var lock = stat()
            #expect(stat(store.path + "/lock", &lock) == 0)
            // A fork copies descriptors as `dup` does.
            let descriptor = (0..<Int32(1024)).first { descriptor in
                var status = stat()
                return fstat(descriptor, &status) == 0 && status.st_dev == lock.st_dev && status.st_ino == lock.st_ino
            }
            copies = [dup(try #require(descriptor))]
        }
        _ = try RunStore(of: directory.path + "/w.yml")
    }

    @Test func `two stores of one workflow do not exist at the same time`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let store = try RunStore(of: directory.path + "/w.yml")
        let failure = #expect(throws: RunStore.Failure.self) { try RunStore(of: directory.path + "/w.yml") }
        #expect(failure?.text.hasPrefix("process \(getpid()) runs '\(directory.path)/w.yml' already") == true)
        withExtendedLifetime(store) {}
    }
}
