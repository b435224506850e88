import Testing

@testable import WorkflowEngine

struct TextBytesTests {
    private static let texts = [
        "", "a", "ab", "b", "é", "e\u{301}", "\u{10FFFF}", "a text of more than fifteen bytes",
        "a text of more than fifteen byteS",
        "more than fifteen bytes and more",
    ]

    @Test func `texts are compared by their bytes`() {
        for left in Self.texts {
            for right in Self.texts {
                let (own, others) = (Array(left.utf8), Array(right.utf8))
                #expect(left.hasSameBytes(as: right) == (own == others), "\(left) \(right)")
                #expect(left.bytesPrecede(right) == own.lexicographicallyPrecedes(others), "\(left) \(right)")
                #expect((ByteKey(left) == ByteKey(right)) == (own == others))
            }
        }
    }
}
