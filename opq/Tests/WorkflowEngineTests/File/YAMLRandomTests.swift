import Foundation
import TestSupport
import Testing

@testable import WorkflowEngine

/// Tests that compare the reader with libyaml on random texts.
///
/// `OPQ_YAML_TEXTS` sets the number of texts, and `OPQ_YAML_SEED` the first seed.
@Suite(.timeLimit(.minutes(60)))
struct YAMLRandomTests {
    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    private static let count = number("OPQ_YAML_TEXTS") ?? 4000
    private static let firstSeed = number("OPQ_YAML_SEED") ?? 1

    /// A random text of parts that mean something in YAML.
    private static func text(seed: Int) -> String {
        var random = SeededRandom(seed: UInt64(seed))
        let parts = [
            "a", "b c", "é", "a: ", "b: ", "c:", "- ", "- ", "? ", ": ", ":", "\n", "\n", "\n  ", "\n  ", "\n    ",
            "\n - ",
            "\n\n", "[", "]", "{", "}", ", ", "a: b\n", "- a\n", "'x'", "'y\n z'", "\"u\\n\"", "\"v \\\n w\"", " #c",
            "#", "|\n",
            "|-\n", ">+\n", ">\n", "|2\n", "  ", " ", "&a ", "*a", "&b ", "*b ", "!t ", "!!null ", "~", "1", "...\n",
            "---\n", "%", "@",
        ]
        return (0..<(1 + random.below(14))).map { _ in random.pick(parts) }.joined()
    }

    /// Returns how libyaml reads texts: `nil` for a text that it refuses. `nil` if it is not installed.
    private func structures(of texts: [String]) throws -> [String?]? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../yaml-structures")
        process.arguments = ["python3", script.path]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        try process.run()
        // The script reads all of its input before it writes.
        try? input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(texts))
        try input.fileHandleForWriting.close()
        let result = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? try JSONDecoder().decode([String?].self, from: result) : nil
    }

    @Test func `a text that libyaml accepts has the same structure and places`() throws {
        let texts = (Self.firstSeed..<Self.firstSeed + Self.count).map(Self.text)
        guard let expected = try structures(of: texts) else { return }
        for (text, expected) in zip(texts, expected) {
            let found = try? YAMLDocument(text).root.map { $0.placedStructure } ?? ""
            // The reader accepts some texts more: version 1.2 of YAML allows them.
            if let expected { #expect(found == expected, "\(text.debugDescription)") }
        }
    }
}

extension YAMLNode {
    fileprivate var placedStructure: String {
        let place = "@\(position.line):\(position.column)"
        switch content {
        case .scalar("", _): return "\"\""
        case .scalar(let text, _): return quoted(text) + place
        case .sequence(let nodes): return "[" + nodes.map(\.placedStructure).joined(separator: ", ") + "]" + place
        case .mapping(let pairs):
            let pairs = pairs.map { "\($0.key.placedStructure): \($0.value.placedStructure)" }
            return "{" + pairs.joined(separator: ", ") + "}" + place
        }
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
}
