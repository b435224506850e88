#if Networking
import Foundation
@testable import OperationsNetworking
import SystemPackage
import Testing

/// Rule D1: two that write the same target at a time exclude each other.
struct FileLockTests {
    /// A child that another thread has forked has a copy of the descriptor until it runs its own program.
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
#endif
