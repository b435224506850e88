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
            let lock = try #require(open(store.path + "/lock", O_PATH | O_CLOEXEC).checked)
            defer { close(lock) }
            // A fork copies descriptors as `dup` does.
            copies = (0..<1024).filter { $0 != lock && isSameFile($0, lock) }.map { dup($0) }
        }
        #expect(copies.count == 1)
        _ = try RunStore(of: directory.path + "/w.yml")
    }

    @Test func `two stores of one workflow do not exist at the same time`() throws {
        let directory = try TemporaryDirectory(files: ["w.yml"])
        let store = try RunStore(of: directory.path + "/w.yml")
        let failure = #expect(throws: RunStore.Failure.self) { try RunStore(of: directory.path + "/w.yml") }
        #expect(failure?.text.hasPrefix("process \(getpid()) runs '\(directory.path)/w.yml' already") == true)
        withExtendedLifetime(store) {}
    }

    private func isSameFile(_ descriptor: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        return fstat(descriptor, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev
            && first.st_ino == second.st_ino
    }
}

extension Int32 {
    /// The descriptor, or `nil` for -1.
    fileprivate var checked: Int32? { self < 0 ? nil : self }
}
