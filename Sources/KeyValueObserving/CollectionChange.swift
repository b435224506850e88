// The values of a collection's change: the inserted, removed or replaced elements, as on Apple's systems.

extension Change {
    /// Turns the change into a change of this kind, and reduces the values from whole collections to the elements concerned.
    mutating func reduce(to kind: NSKeyValueChange, _ indexes: ChangedIndexes?) {
        self.kind = kind
        self.indexes = indexes
        guard kind != .setting else { return }
        let (before, after) = (old, new)
        old = kind == .insertion ? nil : before.map { Self.elements(of: $0, at: indexes?.ranges, without: after) }
        new = kind == .removal ? nil : after.map { Self.elements(of: $0, at: indexes?.ranges, without: before) }
    }

    /// Returns the elements concerned. A value that is not a collection is returned unchanged.
    private static func elements(of value: Any, at places: RangeSet<Int>?, without others: Any?) -> Any {
        if let list = value as? any IndexedElements, let places { return list.elements(at: places) }
        if let set = value as? any SetElements, let others { return set.elements(without: others) }
        return value
    }
}

private protocol IndexedElements {
    func elements(at places: RangeSet<Int>) -> Any
}

extension Array: IndexedElements {
    fileprivate func elements(at places: RangeSet<Int>) -> Any {
        places.intersection(RangeSet(indices)).ranges.reduce(into: [Element]()) { $0 += self[$1] }
    }
}

private protocol SetElements {
    func elements(without others: Any) -> Any
}

extension Set: SetElements {
    fileprivate func elements(without others: Any) -> Any { (others as? Self).map { subtracting($0) } ?? self }
}
