import Foundation
import Testing

@testable import WorkflowEngine

struct OutputSpoolTests {
    @Test(arguments: [0, 10, 64 * 1024, 64 * 1024 + 1, 300_000])
    func `a spool returns its bytes in order, from memory and from a file`(count: Int) throws {
        let spool = SpoolDirectory().makeSpool()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        for start in stride(from: 0, to: count, by: 50_000) {
            bytes[start..<min(start + 50_000, count)].withUnsafeBytes { spool.append($0) }
        }
        var read: [UInt8] = []
        try spool.read { read += $0 }
        #expect(read == bytes)
        #expect(try spool.tail(byteCount: 1000) == Array(bytes.suffix(1000)))
        #expect(!spool.hasLostOutput)
    }

    @Test func `without a folder for its file, a spool stays in memory`() throws {
        let directory = SpoolDirectory(path: "/proc/self/nowhere")
        #expect(
            throws: StartFailure(
                text: "cannot make a temporary file in '/proc/self/nowhere': No such file or directory")
        ) {
            try directory.makeFile()
        }
        let spool = directory.makeSpool()
        let bytes = [UInt8](repeating: 7, count: 200_000)
        bytes.withUnsafeBytes { spool.append($0) }
        #expect(try spool.tail(byteCount: 300_000) == bytes)
        #expect(!spool.hasLostOutput)
    }
}
