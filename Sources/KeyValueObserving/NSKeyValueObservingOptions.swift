/// The values that an observer receives, and the additional calls that it requests.
@frozen
public struct NSKeyValueObservingOptions: OptionSet, Hashable, Sendable {
    /// The options as bits. The values are those of Foundation.
    public let rawValue: UInt

    /// Creates options from bits.
    @inlinable
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change.
    @inlinable public static var new: Self { Self(rawValue: 1) }
    /// The value before the change.
    @inlinable public static var old: Self { Self(rawValue: 2) }
    /// A first call, made before the observing function returns, with the present value if the options contain `new`.
    @inlinable public static var initial: Self { Self(rawValue: 4) }
    /// A call before each change, in addition to the call after it.
    @inlinable public static var prior: Self { Self(rawValue: 8) }
}
