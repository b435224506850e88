/// What identifies a property of an object, whatever its class.
@usableFromInline
package enum PropertyKey: Hashable, @unchecked Sendable {
    // Sendable: key paths are constant; the type does not say so because they may have captured something that is not.
    /// A property that its class has registered under this name; or a name that nobody has registered.
    case name(String)
    /// A property that is only known by its key path.
    case path(AnyKeyPath)
}

/// A change with the types of its values erased.
@usableFromInline
package struct Change: @unchecked Sendable {
    // Sendable: the values go from the thread that changes to handlers on the same thread, or, when several threads change
    // one property at the same time, to the one that tells. Types that may not be sent are not to be changed so.
    package let key: PropertyKey
    @usableFromInline package var kind = NSKeyValueChange.setting
    @usableFromInline package var old: Any?
    @usableFromInline package var new: Any?
    @usableFromInline package var indexes: RangeSet<Int>?
    @usableFromInline package var isPrior = false
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
}
