/// Limits on the decompressed size of a body. A body above a limit fails with `HTTPError.Reason.decompressionLimitExceeded`.
public struct InflationLimit: Hashable, Sendable, Codable {
    /// The maximum decompressed size in bytes, or nil for no limit.
    public var size: Int64?
    /// The maximum quotient of decompressed and compressed size, or nil for no limit. Deflate reaches about 1000.
    public var ratio: Int?
    /// The decompressed size in bytes up to which `ratio` does not apply. Short texts can be very repetitive.
    public var ratioApplies: Int64

    /// A limit of a hundred times the compressed size for bodies above 1 MiB.
    public static let standard = InflationLimit()

    /// Creates limits. The default allows a hundred times the compressed size for bodies above 1 MiB.
    public init(size: Int64? = nil, ratio: Int? = 100, ratioApplies: Int64 = 1 << 20) {
        self.size = size
        self.ratio = ratio
        self.ratioApplies = ratioApplies
    }

    package func permits(_ inflated: Int64, from compressed: Int64) -> Bool {
        if let size, inflated > size { return false }
        guard let ratio, inflated > ratioApplies else { return true }
        let (bound, overflows) = compressed.multipliedReportingOverflow(by: Int64(max(ratio, 0)))
        return overflows || inflated <= bound
    }
}
