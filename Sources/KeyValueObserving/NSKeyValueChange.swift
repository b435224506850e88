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

/// The keys of the dictionary that an observer by name receives.
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
    /// The key as a string.
    public let rawValue: String

    /// Creates a key from a string.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind of change, as the `rawValue` of an `NSKeyValueChange`. The entry is always present.
    public static let kindKey = Self(rawValue: "kind")
    /// The value after the change. The entry is present if the options request the value and the value is not nil.
    public static let newKey = Self(rawValue: "new")
    /// The value before the change. The entry is present if the options request the value and the value is not nil.
    public static let oldKey = Self(rawValue: "old")
    /// The positions of the elements, as a `RangeSet<Int>`, for changes of collections.
    public static let indexesKey = Self(rawValue: "indexes")
    /// The value `true`, in the call before a change only.
    public static let notificationIsPriorKey = Self(rawValue: "notificationIsPrior")
}
