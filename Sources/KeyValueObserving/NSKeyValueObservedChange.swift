/// One change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The kinds of change.
    public typealias Kind = NSKeyValueChange

    /// The kind of the change.
    public let kind: Kind
    /// The value after the change, if the options contain `.new`; nil in the call before the change.
    public let newValue: Value?
    /// The value before the change, if the options contain `.old`.
    public let oldValue: Value?
    /// The positions of the elements that were inserted, removed or replaced; nil for `.setting`.
    public var indexSet: RangeSet<Int>? { indexes?.ranges }
    /// Whether this is the call before the change, which the option `.prior` requests.
    public let isPrior: Bool
    @usableFromInline let indexes: ChangedIndexes?
}

extension NSKeyValueObservedChange: Sendable where Value: Sendable {}

extension NSKeyValueObservedChange {
    @inlinable
    package init(_ change: Change, for options: NSKeyValueObservingOptions) {
        kind = change.kind
        newValue = options.contains(.new) ? change.new.map { $0 as! Value } : nil
        oldValue = options.contains(.old) ? change.old.map { $0 as! Value } : nil
        indexes = change.indexes
        isPrior = change.isPrior
    }
}
