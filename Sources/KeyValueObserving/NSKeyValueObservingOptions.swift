/// What an observer is told, and when.
public struct NSKeyValueObservingOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    public static let new = Self(rawValue: 1)
    /// The value before the change.
    public static let old = Self(rawValue: 2)
    /// A first call, before the observing begins to return, with the present value if `new` is asked for too.
    public static let initial = Self(rawValue: 4)
    /// A call before each change, in addition to the one after it.
    public static let prior = Self(rawValue: 8)
}
