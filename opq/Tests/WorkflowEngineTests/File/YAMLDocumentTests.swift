import Testing

@testable import WorkflowEngine

struct YAMLDocumentTests {
    @Test func `a place counts characters in the line`() throws {
        let root = try YAMLDocument("- é: [ü, x]\n-   y\n").root
        let pair = try #require(root?.sequence?.first?.mapping?.first)
        #expect(pair.key.position == SourcePosition(line: 1, column: 3))
        #expect(pair.value.position == SourcePosition(line: 1, column: 6))
        #expect(pair.value.sequence?.last?.position == SourcePosition(line: 1, column: 10))
        #expect(root?.sequence?.last?.position == SourcePosition(line: 2, column: 5))
    }

    @Test func `nesting is limited, and every kind of it ends with an error`() {
        for text in [
            String(repeating: "[", count: 100_000), String(repeating: "{a: ", count: 100_000),
            String(repeating: "- ", count: 100_000), String(repeating: "? ", count: 100_000),
        ] {
            let error = #expect(throws: Diagnostic.self) { try YAMLDocument(text) }
            #expect(error?.message == "invalid YAML: lists and maps are nested too deeply")
        }
        #expect(throws: Never.self) {
            try YAMLDocument(String(repeating: "[", count: 200) + String(repeating: "]", count: 200))
        }
    }
}
