extension [Double] {
    /// The median; nil for an empty array.
    public var median: Double? {
        let sorted = sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Half of the range as a fraction of the median; nil if that has no meaning.
    public var spread: Double? {
        guard count > 1, let median, median > 0, let least = self.min(), let greatest = self.max() else { return nil }
        return (greatest - least) / 2 / median
    }
}
