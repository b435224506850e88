/// A comparable HTTP date (RFC 9110, section 5.6.7). Only the preferred format is supported.
struct HTTPDate: Comparable {
    private let parts: [Int]

    init?(_ text: String) {
        let words = text.trimmed.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3 else { return nil }
        parts = [year, month, day] + time
    }

    static func < (first: HTTPDate, second: HTTPDate) -> Bool { first.parts.lexicographicallyPrecedes(second.parts) }
}
