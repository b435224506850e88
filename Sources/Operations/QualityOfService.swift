/// The service level of the thread that runs the work. It never changes the order in a queue (rule P5).
///
/// The raw values are those of Apple's systems. On Linux a level takes effect as the thread's own nice value, best
/// effort; see `ServiceLevel`.
public enum QualityOfService: Int, Sendable, CaseIterable {
    case userInteractive = 0x21
    case userInitiated = 0x19
    case utility = 0x11
    case background = 0x09
    /// Never set: an operation takes its queue's, a queue the system's default.
    case `default` = -1
}
