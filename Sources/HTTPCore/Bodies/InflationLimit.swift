#if Networking
/// How much what is compressed may become (rule R12). What is beyond fails with `HTTPError.Reason.inflatesTooMuch`.
public struct InflationLimit: Hashable, Sendable, Codable {
    /// In bytes, inflated; nil for no limit.
    public var size: Int64?
    /// How many times the compressed size; nil for no limit. Deflate reaches about 1000.
    public var ratio: Int?
    /// Up to so many bytes, inflated, the ratio does not matter: small texts may repeat themselves.
    public var ratioApplies: Int64

    /// Up to a hundred times the compressed size, from 1 MiB on.
    public static let standard = InflationLimit()

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
#endif
