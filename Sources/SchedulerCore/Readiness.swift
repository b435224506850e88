/// The dependencies of one operation, in the order added, with a mark for the unfinished ones.
///
/// Adding, finding and removing cost O(1) amortized: a few entries are searched linearly, many through an index.
@frozen
public struct Readiness<Dependency: AnyObject> {
    @usableFromInline
    struct Entry {
        @usableFromInline var dependency: Dependency
        @usableFromInline var holds: Bool

        @usableFromInline
        init(dependency: Dependency, holds: Bool) {
            self.dependency = dependency
            self.holds = holds
        }

        /// Marks the dependency as finished. True: it was unfinished.
        @usableFromInline
        mutating func isReleased() -> Bool {
            defer { holds = false }
            return holds
        }
    }

    /// The entries. A removed entry leaves a hole, so that the others keep their place. Holes are closed when they are
    /// the majority.
    @usableFromInline var entries = SmallArray<Entry?>()
    @usableFromInline var index = [ObjectIdentifier: Int]()
    @usableFromInline var holes = 0

    @inlinable
    public init() {}

    @inlinable
    public var dependencies: [Dependency] { entries.elements.compactMap { $0?.dependency } }

    /// The unfinished dependencies, for which the operation waits.
    @inlinable
    public var holding: [Dependency] { entries.elements.compactMap { $0.flatMap { $0.holds ? $0.dependency : nil } } }

    /// Adds a dependency. False: it was added before. The operation does not wait for it until `holdLast` is called.
    @inlinable
    public mutating func add(_ dependency: Dependency) -> Bool {
        guard position(of: dependency) == nil else { return false }
        entries.append(Entry(dependency: dependency, holds: false))
        if entries.count > Self.searchLimit {
            if index.isEmpty { buildIndex() } else { index[ObjectIdentifier(dependency)] = entries.count - 1 }
        }
        return true
    }

    /// Marks the dependency that was added last as unfinished.
    @inlinable
    public mutating func holdLast() { entries.update(at: entries.count - 1) { $0?.holds = true } }

    /// Marks a dependency as finished. True: the operation waited for it until now.
    @inlinable
    public mutating func finished(_ dependency: Dependency) -> Bool {
        guard let position = position(of: dependency) else { return false }
        return entries.update(at: position) { $0?.isReleased() ?? false }
    }

    /// Removes a dependency. Returns whether the operation waited for it; nil when it was not a dependency.
    @inlinable
    public mutating func remove(_ dependency: Dependency) -> (dependency: Dependency, held: Bool)? {
        guard let position = position(of: dependency), let entry = entries[position] else { return nil }
        entries.update(at: position) { $0 = nil }
        index[ObjectIdentifier(dependency)] = nil
        holes += 1
        if holes > 8, holes * 2 > entries.count {
            entries.removeAll { $0 == nil }
            holes = 0
            index = [:]
            if entries.count > Self.searchLimit { buildIndex() }
        }
        return (entry.dependency, entry.holds)
    }

    /// Moves all dependencies to the end of `array`, so that the caller decides how they are released.
    @inlinable
    public mutating func removeAll(into array: inout [Dependency]) {
        entries.handOver { if let entry = $0 { array.append(entry.dependency) } }
        index.removeAll()
        holes = 0
    }

    @inlinable static var searchLimit: Int { 8 }

    @inlinable
    func position(of dependency: Dependency) -> Int? {
        if index.isEmpty { return entries.firstIndex { $0?.dependency === dependency } }
        return index[ObjectIdentifier(dependency)]
    }

    @inlinable
    mutating func buildIndex() {
        for (position, entry) in entries.elements.enumerated() {
            if let entry { index[ObjectIdentifier(entry.dependency)] = position }
        }
    }
}
