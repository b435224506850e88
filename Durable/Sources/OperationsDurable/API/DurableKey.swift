public import DurableCore

/// The state of one key of a queue.
public struct DurableKey: Sendable, Hashable {
    /// The text of the key.
    public let key: String
    /// The limit of this key in place of the limit per key of the queue.
    public let limit: Int?
    /// The rate of this key in place of the rate per key of the queue.
    public let rate: RateRule?
    /// The number of running operations.
    public let running: Int
    /// The number of ready operations.
    public let ready: Int
    /// The number of operations that wait for the limit or the rate of the key.
    public let blocked: Int

    init(_ row: KeyRow) {
        (key, limit, rate) = (row.name.key, row.limit.map { Int($0) }, row.rate)
        (running, ready, blocked) = (Int(row.running), Int(row.ready), Int(row.blocked))
    }
}
