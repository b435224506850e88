/// The service level of the thread that runs an operation. The level never changes the order in a queue.
///
/// The raw values are those of Apple's systems. On Linux a level is a nice value of the thread, as far as the system
/// permits. See `ServiceLevel`.
public enum QualityOfService: Int, Sendable, CaseIterable {
    case userInteractive = 0x21
    case userInitiated = 0x19
    case utility = 0x11
    case background = 0x09
    /// The level of an operation or a queue whose level was not set. An operation uses the level of its queue; a queue
    /// uses the default of the system.
    case `default` = -1
}
