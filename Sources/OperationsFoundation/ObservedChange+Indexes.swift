public import Foundation
public import Operations

#if !canImport(ObjectiveC)
extension Operations.NSKeyValueObservedChange {
    /// The positions of the elements that were inserted, removed or replaced; nil for `.setting`.
    public var indexes: IndexSet? {
        indexSet.map { places in
            var indexes = IndexSet()
            for range in places.ranges { indexes.insert(integersIn: range) }
            return indexes
        }
    }
}
#endif
