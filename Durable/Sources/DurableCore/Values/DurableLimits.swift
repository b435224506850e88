/// The limits of a store.
public struct DurableLimits: Sendable, Hashable {
    /// The largest number of bytes of an input, an output, a step result or a signal. The default is 1 MiB.
    public var payloadBytes = 1 << 20
    /// The largest number of UTF-8 bytes of a name or a key. The default is 200.
    ///
    /// Two names are equal if their UTF-8 bytes are equal. No store normalizes a name.
    public var nameBytes = 200
    /// The largest number of UTF-8 bytes of an error text that the store keeps. The store cuts longer texts.
    public var reasonBytes = 4_096
    /// The number of deaths of its workers after which an operation ends as crashed. The default is 3.
    ///
    /// After the death of a worker, its operations run again alone, so that the next death has one cause. An attempt that ends
    /// clears its operation.
    public var maxCrashes = 3
    /// The number of failed attempts of an operation whose records the store keeps. The default is 100.
    public var attemptRecords = 100
    /// The time for which the store keeps ended operations. The default is 7 days.
    public var retention = Duration.seconds(7 * 86_400)
    /// The time for which the store keeps events for their observers. The default is 20 minutes.
    public var eventRetention = Duration.seconds(1_200)
    /// The largest number of operations that `schedule` adds for missed times in one step. The default is 100.
    public var missedTimes = 100

    /// Creates the default limits.
    public init() {}
}
