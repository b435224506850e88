extension Double {
    /// The number with three digits, or more before the decimal point: 0.712, 1.5, 12, 14.2, 7,139.
    public var brief: String {
        let decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2
        let scale = decimals == 0 ? 1 : decimals == 1 ? 10.0 : 100.0
        let rounded = (self * scale).rounded() / scale
        return rounded == rounded.rounded() ? Int(rounded).grouped : "\(rounded)"
    }
}

extension Int {
    /// The number with commas between thousands.
    public var grouped: String {
        var text = ""
        for (index, digit) in String(magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + String(text.reversed())
    }
}
