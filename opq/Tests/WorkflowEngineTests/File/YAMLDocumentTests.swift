import Testing

@testable import WorkflowEngine

struct YAMLDocumentTests {
    @Test(arguments: [
        // Block collections.
        ("a: b", #"{"a": "b"}"#),
        ("a: b\nc:\n  d: e\nf: g\n", #"{"a": "b", "c": {"d": "e"}, "f": "g"}"#),
        ("- a\n- - b\n  - c\n-\n  d\n- e: f\n  g: h\n", #"["a", ["b", "c"], "d", {"e": "f", "g": "h"}]"#),
        ("a:\n- b\n- c\nd:\n  - e\n", #"{"a": ["b", "c"], "d": ["e"]}"#),
        ("a:\nb:\n  c:\n", #"{"a": null, "b": {"c": null}}"#),
        ("-\n- a\n-", #"[null, "a", null]"#),
        ("? a\n: b\n? - c\n: - d\n? e\n", #"{"a": "b", ["c"]: ["d"], "e": null}"#),
        (": a\n? \n: b\n", #"{null: "a", null: "b"}"#),
        ("- ? a\n  : b\n- [c]: d\n", #"[{"a": "b"}, {["c"]: "d"}]"#),
        // Collections in brackets.
        ("[a, [b, c], {d: e}, f: g, ]", #"["a", ["b", "c"], {"d": "e"}, {"f": "g"}]"#),
        (
            "{a: b, c, d: , 'e':f, \"g\": [h], ? i : j}",
            #"{"a": "b", "c": null, "d": null, "e": "f", "g": ["h"], "i": "j"}"#
        ),
        ("[]", "[]"), ("{}", "{}"), ("[\n a # x\n , b\n]", #"["a", "b"]"#),
        ("a: [b:c, d#e, -f, ?g, http://h:1]", #"{"a": ["b:c", "d#e", "-f", "?g", "http://h:1"]}"#),
        // Scalars.
        ("a: b  c # d", #"{"a": "b  c"}"#),
        ("a: b#c:d\n", #"{"a": "b#c:d"}"#),
        ("a: b\n  c\n\n  - d: e: f\n".replacing("- d: e: f", with: "- d"), #"{"a": "b c\n- d"}"#),
        ("a\nb\n\n\nc", #""a b\n\nc""#),
        ("'a''b \\n'", #""a\'b \\n""#),
        (#""a\t\x41\u00e9\U0001F600\"\\\/\e""#, #""a\tAé😀\"\\/\u{1B}""#),
        ("\"a \\\n   b\\ \n \n  c  \n d\"", #""a b \nc d""#),
        ("'a\n\n b\n c '", #""a\nb c ""#),
        ("a: |\n  b\n   c\n\n  d\n\ne: f", #"{"a": "b\n c\n\nd\n", "e": "f"}"#),
        ("a: |-\n  b\n\nc: |+\n  d\n\n", #"{"a": "b", "c": "d\n\n"}"#),
        ("a: >\n  b\n  c\n\n  d\n   e\n  f\n", #"{"a": "b c\nd\n e\nf\n"}"#),
        ("a: |2 # x\n   b\n  c", #"{"a": " b\nc"}"#),
        ("- |\n a\n- >-\n  b\n  c\n", #"["a\n", "b c"]"#),
        ("|\n a", #""a""#),
        ("a: |\nb: c", #"{"a": "", "b": "c"}"#),
        // Anchors and tags.
        ("a: &x [b]\nc: *x\n*x : d", #"{"a": ["b"], "c": ["b"], ["b"]: "d"}"#),
        ("a: &x\n  b: c\nd: *x", #"{"a": {"b": "c"}, "d": {"b": "c"}}"#),
        ("&k a: &v b\nc: [*k, *v]", #"{"a": "b", "c": ["a", "b"]}"#),
        ("a: &x\nb: *x", #"{"a": null, "b": null}"#),
        (
            "a: !!str 5\nb: !!null ''\nc: ! d\ne: !!str\nf: !x [g]",
            #"{"a": "5", "b": null, "c": "d", "e": "", "f": ["g"]}"#
        ),
        // Documents.
        ("", "nothing"), ("# a\n\n", "nothing"), ("---\na: b\n...\n# c\n", #"{"a": "b"}"#), ("--- a", #""a""#),
        ("%YAML 1.2\n---\na", #""a""#), ("\u{FEFF}a: b", #"{"a": "b"}"#), ("--- |\n a\n", #""a\n""#),
        ("a: b\r\nc:\r\n- d\r\n", #"{"a": "b", "c": ["d"]}"#), ("a:\tb\t# c\n", #"{"a": "b"}"#),
        ("a: 'é'\né: ü", #"{"a": "é", "é": "ü"}"#),
    ])
    func `YAML has this structure`(text: String, structure: String) throws {
        #expect(try YAMLDocument(text).root.map { $0.structure } ?? "nothing" == structure)
    }

    @Test(arguments: [
        ("a: b: c", "1:5: found a colon inside of a value"),
        ("a: 'b' c", "1:8: found text after the end of a value"),
        ("a: b\n  c: d", "2:4: found a colon inside of a value"),
        ("a: 'b'\n  c: d", "2:3: expected a key in column 1, as above"),
        ("a:\n    b: c\n  d: e", "3:3: expected a key in column 1, as above"),
        ("a:\n  - b\n - c", "3:2: expected a key in column 1, as above"),
        ("- a\nb: c", "2:1: expected '-' and a space, as in the entries above"),
        ("a: b\n- c", "2:1: expected a key, found an entry of a list"),
        ("a: b\nc", "2:1: expected ':' and a space after a key"),
        ("a: - b", "1:4: an entry of a list must begin in a line of its own"),
        ("a: ? b", "1:4: found a colon inside of a value"),
        ("a: [b, c", "1:4: the '[' has no ']'"),
        ("a: {b: c\nd: e", "2:2: expected ',' or '}'"),
        ("a: [b, , c]", "1:8: expected a value before ','"),
        ("a: ]", "1:4: a value cannot begin with ']'"),
        ("a: 'b", "1:4: the quote has no end"), ("a: \"b\n---\n\"", "1:4: the quote has no end"),
        (#"a: "\q""#, #"1:6: unknown escape '\q'"#),
        (#"a: "\xg0""#, #"1:6: '\x' needs 2 digits of a character in base 16"#),
        (#"a: "\ud800""#, #"1:6: '\u' needs 4 digits of a character in base 16"#),
        ("a: *b", "1:4: there is no anchor '&b' above"),
        ("a: &x [*x]", "1:8: there is no anchor '&x' above"),
        ("a: *.c", "1:5: expected the name of an anchor after '*'"),
        ("a: &b.c", "1:6: expected a blank after an anchor or a tag"),
        ("a: | b", "1:6: the text must begin in the line after '|' or '>'"),
        ("a: é%\nb: %", "2:4: a value cannot begin with '%'"),
        ("a\n---\nb", "2:1: expected a single document, but found another one"),
        ("a\n...\nb", "3:1: expected a single document, but found another one"),
        ("é: \u{7F}", "1:4: control characters are not allowed"),
        ("a\nb: \u{9B}", "2:4: control characters are not allowed"),
    ])
    func `text that is not YAML has this fault`(text: String, fault: String) {
        let error = #expect(throws: Diagnostic.self) { try YAMLDocument(text) }
        #expect(error?.line(in: "").dropFirst().replacing("error: invalid YAML: ", with: "").hasPrefix(fault) == true)
    }

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

extension YAMLNode {
    /// The node in the form of JSON.
    var structure: String {
        switch content {
        case .scalar(let text, let kind): kind == .null ? "null" : text.debugDescription
        case .sequence(let nodes): "[" + nodes.map(\.structure).joined(separator: ", ") + "]"
        case .mapping(let pairs):
            "{" + pairs.map { "\($0.key.structure): \($0.value.structure)" }.joined(separator: ", ") + "}"
        }
    }
}
