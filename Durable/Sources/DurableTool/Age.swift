import DurableCore

/// A time in words: a number and a unit, such as `90s`, `15m`, `1h30m`, `2d` and `1w`.
public enum Age {
    private static let units: [(name: String, seconds: Double)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1), ("ms", 0.001),
    ]

    /// Returns the duration of a text; nil for another text, a number below zero, and more than 10,000 years.
    public static func duration(_ text: String) -> Duration? {
        var (rest, sum, last) = (Substring(text), 0.0, Double.infinity)
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let name = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            // Each unit is smaller than the one before, so that `1m2h` is a mistake.
            guard let number = Double(digits), digits.first?.isNumber == true,
                let unit = units.first(where: { $0.name == name }), unit.seconds < last
            else { return nil }
            (sum, last) = (sum + number * unit.seconds, unit.seconds)
            rest = rest.dropFirst(digits.count + name.count)
        }
        return text.isEmpty || sum > 3.2e11 ? nil : .microseconds(Int64((sum * 1_000_000).rounded()))
    }

    /// Returns a duration in its two largest units, for example `2h 5m`. A negative duration is zero.
    public static func text(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.microseconds) / 1_000
        if milliseconds < 1_000 { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1_000
        for (index, unit) in units.enumerated() where Double(seconds) >= unit.seconds {
            let size = Int64(unit.seconds)
            guard index + 1 < units.count - 1 else { return "\(seconds)s" }
            let next = units[index + 1]
            let remainder = seconds % size / Int64(next.seconds)
            return "\(seconds / size)\(unit.name)\(remainder == 0 ? "" : " \(remainder)\(next.name)")"
        }
        return "0s"
    }
}
