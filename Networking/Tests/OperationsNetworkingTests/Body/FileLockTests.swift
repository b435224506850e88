import Foundation
@testable import OperationsNetworking
import SystemPackage
import Testing

/// The exclusive lock of the writer of a target (rule D1).
struct FileLockTests {
    /// A forked child has a copy of the descriptor until the child executes its own program.
    @Test func `a released part can be locked again while a child has a copy of its descriptor`() throws {
        let folder = try Folder()
        let path = FilePath(folder.file("a.part"))
        let first = try #require(try SystemFile.openExclusively(path))
        let copy = try first.duplicate()
        #expect(try SystemFile.openExclusively(path) == nil)
        try first.unlockAndClose()
        let second = try #require(try SystemFile.openExclusively(path))
        try second.unlockAndClose()
        try copy.close()
    }
}
