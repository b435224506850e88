/// The identity of a property within an object of any class.
@usableFromInline
package enum PropertyKey: Hashable, @unchecked Sendable {
    // Sendable: key paths are constant. `AnyKeyPath` is not Sendable because a key path may capture a value that is not
    // Sendable.
    /// A property that its class has registered under this name, or an unregistered name.
    case name(String)
    /// A property that is known only by its key path.
    case path(AnyKeyPath)

    var name: String? { if case .name(let name) = self { name } else { nil } }

    var path: AnyKeyPath? { if case .path(let path) = self { path } else { nil } }
}

/// A change with the types of its values erased.
@usableFromInline
package struct Change: @unchecked Sendable {
    // Sendable: usually the values stay on the thread that makes the change. When several threads change one property at the
    // same time, the values move to the thread that notifies. Properties of types that are not Sendable must not be changed in
    // this way.
    package let key: PropertyKey
    @usableFromInline package var kind = NSKeyValueChange.setting
    // Spelled `Optional<Any>`: a property declared with a question mark is first initialized to nil and then assigned again.
    @usableFromInline package var old: Optional<Any>
    @usableFromInline package var new: Optional<Any>
    @usableFromInline package var indexes: ChangedIndexes?
    @usableFromInline package var isPrior = false
    /// The source of values that are made only when observers are notified; nil when `old` and `new` have the values.
    var late: (any LateValues)?
    /// Whether the change was announced for another property, whose changes may change this property.
    var isIndirect = false
    /// The only observations to notify; nil when the change concerns all observations of the property.
    var only: Receivers?
    /// The number of observations that had been registered when the change happened. Later observations are not notified.
    var observationsBefore: UInt64 = 0

    package init(_ key: PropertyKey, old: Any? = nil, new: Any? = nil) {
        self.key = key
        self.old = old
        self.new = new
    }

    /// Creates a change whose values are made when observers are notified.
    package init(_ key: PropertyKey, late: any LateValues) {
        self.init(key)
        self.late = late
    }
}

/// The positions of changed elements.
///
/// A class, because most changes have no positions, and copying even an empty `RangeSet` costs more than the rest of a change.
@usableFromInline
package final class ChangedIndexes: Sendable {
    @usableFromInline package let ranges: RangeSet<Int>

    init?(_ ranges: RangeSet<Int>?) {
        guard let ranges else { return nil }
        self.ranges = ranges
    }
}

/// The observations of a change that concerns only some. An object, because few changes have one, and all are moved often.
final class Receivers {
    let observations: OneOrMore<Observation>

    init(_ observations: OneOrMore<Observation>) { self.observations = observations }
}
