extension Duration {
    /// The duration for people, with at most two decimals: `340 ms`, `4.2 s`, `2.5 min`, `0`.
    package var inWords: String {
        let seconds = self / .seconds(1)
        if seconds == 0 { return "0" }
        if seconds < 0.001 { return "\(brief(seconds * 1_000_000)) µs" }
        if seconds < 1 { return "\(brief(seconds * 1000)) ms" }
        return seconds < 120 ? "\(brief(seconds)) s" : "\(brief(seconds / 60)) min"
    }
}

private func brief(_ number: Double) -> String {
    let hundredths = (number * 100).rounded() / 100
    return hundredths == hundredths.rounded() && hundredths.magnitude < 1e15 ? "\(Int(hundredths))" : "\(hundredths)"
}
