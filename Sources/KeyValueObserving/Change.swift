/// What identifies a property of an object, whatever its class.
@usableFromInline
package enum PropertyKey: Hashable, @unchecked Sendable {
    // Sendable: key paths are constant; the type does not say so because they may have captured something that is not.
    /// A property that its class has registered under this name; or a name that nobody has registered.
    case name(String)
    /// A property that is only known by its key path.
    case path(AnyKeyPath)

    var name: String? { if case .name(let name) = self { name } else { nil } }

    var path: AnyKeyPath? { if case .path(let path) = self { path } else { nil } }
}

/// A change with the types of its values erased.
@usableFromInline
package struct Change: @unchecked Sendable {
    // Sendable: the values go from the thread that changes to handlers on the same thread, or, when several threads change
    // one property at the same time, to the one that tells. Types that may not be sent are not to be changed so.
    package let key: PropertyKey
    @usableFromInline package var kind = NSKeyValueChange.setting
    // Spelled out: what is declared with a question mark begins as nil, and is assigned a second time.
    @usableFromInline package var old: Optional<Any>
    @usableFromInline package var new: Optional<Any>
    @usableFromInline package var indexes: ChangedIndexes?
    @usableFromInline package var isPrior = false
    /// Makes the values when the change is told; nil: they are there.
    var late: (any LateValues)?
    /// It was announced for another property, whose changes may change this one.
    var isIndirect = false
    /// Whom alone it is told, if not all who observe the property.
    var only: Observation?
    /// How many observations had been made when it happened: later ones are not told.
    var observationsBefore: UInt64 = 0

    package init(_ key: PropertyKey, old: Any? = nil, new: Any? = nil) {
        self.key = key
        self.old = old
        self.new = new
    }

    /// A change whose values are made when it is told.
    package init(_ key: PropertyKey, late: any LateValues) {
        self.init(key)
        self.late = late
    }
}

/// The places of changed elements. An object, for most changes have none, and copying a `RangeSet` costs more than the rest
/// of a change, even when there is none.
@usableFromInline
package final class ChangedIndexes: Sendable {
    @usableFromInline package let ranges: RangeSet<Int>

    init?(_ ranges: RangeSet<Int>?) {
        guard let ranges else { return nil }
        self.ranges = ranges
    }
}
