/// The kinds of change.
public enum NSKeyValueChange: UInt, Sendable {
    /// The property has another value.
    case setting = 1
    /// Elements were inserted into an ordered collection.
    case insertion = 2
    /// Elements were removed from an ordered collection.
    case removal = 3
    /// Elements of an ordered collection were replaced.
    case replacement = 4
}

/// The ways to change a set.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Elements are added.
    case union = 1
    /// Elements are removed.
    case minus = 2
    /// Elements that are not in another set are removed.
    case intersect = 3
    /// The set is replaced.
    case set = 4
}

/// The keys of the dictionary that an observer of string keys is given.
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind of change, as the `rawValue` of an `NSKeyValueChange`. Always there.
    public static let kindKey = Self(rawValue: "kind")
    /// The value after the change, if asked for.
    public static let newKey = Self(rawValue: "new")
    /// The value before the change, if asked for.
    public static let oldKey = Self(rawValue: "old")
    /// The places of the elements, a `RangeSet<Int>`, for changes of collections.
    public static let indexesKey = Self(rawValue: "indexes")
    /// True in the call before a change.
    public static let notificationIsPriorKey = Self(rawValue: "notificationIsPrior")
}
