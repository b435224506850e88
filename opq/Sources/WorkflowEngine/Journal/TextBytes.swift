import Glibc

/// Comparisons of texts by their bytes. Swift compares characters, and equal characters may have different bytes.
extension String {
    /// Whether the texts have the same bytes.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && comparedBytes(with: other, count: utf8.count) == 0
    }

    /// Whether the text is before another one in the order of their bytes.
    func bytesPrecede(_ other: String) -> Bool {
        let (own, others) = (utf8.count, other.utf8.count)
        let order = comparedBytes(with: other, count: min(own, others))
        return order < 0 || order == 0 && own < others
    }

    /// Compares the first `count` bytes, without a copy of the texts.
    private func comparedBytes(with other: String, count: Int) -> Int32 {
        let order = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others -> Int32 in
                guard count > 0, let own = own.baseAddress, let others = others.baseAddress else { return 0 }
                return memcmp(own, others, count)
            }
        }
        if let order = order ?? nil { return order }
        let (own, others) = (Array(utf8.prefix(count)), Array(other.utf8.prefix(count)))
        return own == others ? 0 : own.lexicographicallyPrecedes(others) ? -1 : 1
    }
}
