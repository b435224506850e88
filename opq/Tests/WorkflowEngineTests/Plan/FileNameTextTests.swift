import Foundation
import SystemPackage
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

struct FileNameTextTests {
    @Test func `each name has a text, and each text its name`() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                [0x61, 0xC3, 0xA9, 0xF4, 0x8F, 0xBE, 0xBF, 0x80, 0xFF, 0xE2, 0x82, 0xAC].randomElement(using: &random)
                    as UInt8? ?? 1
            }
            #expect(String(fileName: bytes).fileNameBytes == bytes)
        }
    }

    @Test(arguments: [[0xFC], [0xF4, 0x8F, 0xBF, 0xBF], [0xC3], [0xE2, 0x82], [0xC3, 0xA9, 0xFF]] as [[UInt8]])
    func `the system gets the bytes of the name`(bytes: [UInt8]) {
        let text = String(fileName: bytes)
        #expect(text.withFileName { name in bytes.indices.map { UInt8(bitPattern: name[$0]) } } == bytes)
        #expect(text.withFileName { $0[bytes.count] } == 0)
    }

    @Test func `a file that contains characters for bytes is refused`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/w.yml"
        try "operations: {a: {run: 'echo \u{10FFFC}'}}".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(
            WorkflowFile(at: .init(path)).diagnostics.map(\.message) == [
                "the file contains a character from U+10FF80 to U+10FFFF, which stand for bytes of file names"
            ])
    }
}
