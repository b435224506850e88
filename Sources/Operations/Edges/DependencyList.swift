import SchedulerCore

/// The dependencies of an operation that has attachments, in the order added. Guarded by the lock of the attachments.
struct DependencyList {
    /// The edges that were added before there were attachments, linked from the newest. A dependency that was added
    /// several times has several edges.
    private var early: Edge?
    private var list = KeyedList<Edge>()

    /// Takes over the edges that were added before there were attachments. The list is empty.
    mutating func begin(with early: Edge?) { self.early = early }

    /// Moves the early edges to the list, and drops edges of repeated dependencies. Precedes every other access.
    ///
    /// Returns the number of counts that the caller has to take back, because dropped edges were counted.
    mutating func sort() -> UInt32 { early == nil ? 0 : moveEarly() }

    @inline(never)
    private mutating func moveEarly() -> UInt32 {
        var oldest: Edge?
        var rest = early.take()
        while let edge = rest {
            rest = edge.nextOfList
            edge.nextOfList = oldest
            oldest = edge
        }
        var counted: UInt32 = 0
        while let edge = oldest {
            oldest = edge.nextOfList
            let dependency = edge.dependency
            guard !list.add(edge, key: edge.key) else { continue }
            if edge.dropFromList() { counted += 1 }
            // Not the last reference: the list has another edge of the dependency.
            dependency.release()
        }
        return counted
    }

    var dependencies: [Operation] { list.elements.map { $0.dependency.takeUnretainedValue() } }

    /// The unfinished dependencies, for which the operation waits.
    var holding: [Operation] {
        list.elements.compactMap { $0.holds ? $0.dependency.takeUnretainedValue() : nil }
    }

    mutating func add(_ edge: Edge) -> Bool { list.add(edge, key: edge.key) }

    /// Removes a dependency. The caller drops the edge and releases the dependency.
    mutating func remove(_ dependency: Operation) -> Edge? {
        list.remove(UInt(bitPattern: Unmanaged.passUnretained(dependency).toOpaque()))
    }

    /// Drops the edges of an operation that is being released, and moves the references to the dependencies to `array`.
    /// Returns the number of edges that were counted.
    func drop(into array: inout [Operation]) -> UInt32 {
        if early == nil, list.count == 0 { return 0 }
        return list.elements.reduce(Self.drop(early, into: &array)) { $0 + Self.drop($1, into: &array) }
    }

    /// Drops a chain of early edges.
    static func drop(_ newest: Edge?, into array: inout [Operation]) -> UInt32 {
        var counted: UInt32 = 0
        var rest = newest
        while let edge = rest {
            rest = edge.nextOfList
            counted += drop(edge, into: &array) as UInt32
        }
        return counted
    }

    private static func drop(_ edge: Edge, into array: inout [Operation]) -> UInt32 {
        let dependency = edge.dependency
        let isCounted = edge.dropFromList()
        array.append(dependency.takeRetainedValue())
        return isCounted ? 1 : 0
    }
}
