extension [Double] {
    /// nil of nothing.
    public var median: Double? {
        let sorted = sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Half the way from the least to the greatest, as a part of the median; nil where that says nothing.
    public var spread: Double? {
        guard count > 1, let median, median > 0, let least = self.min(), let greatest = self.max() else { return nil }
        return (greatest - least) / 2 / median
    }
}
