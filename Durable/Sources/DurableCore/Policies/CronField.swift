/// The parser of one field of a schedule.
enum CronField {
    typealias Invalid = CronFields.Invalid

    /// Returns the numbers of a field as bits.
    static func bits(_ field: String, _ range: ClosedRange<Int>, _ names: [String]) throws(Invalid) -> UInt64 {
        var bits: UInt64 = 0
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
            guard let first = pieces.first, pieces.count <= 2 else { throw Invalid(reason: "'\(part)' is no range") }
            var step = 1
            if pieces.count == 2 {
                guard let number = Int(pieces[1]), number > 0 else { throw Invalid(reason: "'\(part)' has no step") }
                step = number
            }
            let numbers = try bounds(String(first), range, names, isOpen: pieces.count == 2)
            for number in stride(from: numbers.lowerBound, through: numbers.upperBound, by: step) {
                bits |= 1 << UInt64(number)
            }
        }
        return bits
    }

    private static func bounds(
        _ text: String, _ range: ClosedRange<Int>, _ names: [String], isOpen: Bool
    ) throws(Invalid) -> ClosedRange<Int> {
        if text == "*" { return range }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2, let lower = number(ends[0], range, names) else {
            throw Invalid(reason: "'\(text)' is not in \(range.lowerBound)-\(range.upperBound)")
        }
        if ends.count == 1 { return lower...(isOpen ? range.upperBound : lower) }
        guard let upper = number(ends[1], range, names), lower <= upper else {
            throw Invalid(reason: "'\(text)' is no range in \(range.lowerBound)-\(range.upperBound)")
        }
        return lower...upper
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>, _ names: [String]) -> Int? {
        if let index = names.firstIndex(of: String(text)) { return index + range.lowerBound }
        guard let number = Int(text), range.contains(number) else { return nil }
        return number
    }
}
