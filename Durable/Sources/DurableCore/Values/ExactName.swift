/// A name that equals another name only if both have the same UTF-8 bytes, as in a database.
///
/// `String` compares by canonical equivalence instead: `é` as one scalar equals `e` with a combining accent. A dictionary of
/// strings therefore merges names that have two rows in the database.
package struct ExactName: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    /// Returns whether the bytes of the first name precede the bytes of the second name.
    package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No UTF-8 text has the byte, so that the name ends for the hasher.
        hasher.combine(0xFF as UInt8)
    }
}

extension [String] {
    /// Whether an element has the same UTF-8 bytes as the name.
    package func containsExactly(_ name: String) -> Bool { contains { ExactName($0) == ExactName(name) } }
}
