import CPlatform
import OperationsPrimitives
import SchedulerCore

/// The dependencies of an operation that has attachments, in the order added. Guarded by the lock of the attachments.
enum DependencyList {
    /// The edges that were added before there were attachments, linked from the newest. A dependency that was added several
    /// times has several edges.
    case early(Edge?)
    /// A box, so that attachments without dependencies are small.
    case sorted(Box)

    final class Box { @exclusivity(unchecked) var list = KeyedList<Edge>() }

    init() { self = .early(nil) }

    /// Takes over the edges that were added before there were attachments. The list is empty.
    mutating func begin(with early: Edge?) { self = .early(early) }

    /// Moves the early edges to the list, and drops edges of repeated dependencies. Precedes every access but `drop`.
    ///
    /// Returns the number of counts that the caller has to take back, because dropped edges were counted.
    mutating func sort() -> UInt32 {
        guard case .early(let newest?) = self else { return 0 }
        let box = Box()
        self = .sorted(box)
        return Self.move(newest, to: &box.list)
    }

    private static func move(_ newest: Edge, to list: inout KeyedList<Edge>) -> UInt32 {
        var oldest: Edge?
        var rest: Edge? = newest
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

    /// The sorted dependencies; nil: there are none.
    private var sorted: Box? {
        if case .sorted(let box) = self { box } else { nil }
    }

    private var edges: [Edge] { sorted?.list.elements ?? [] }

    var dependencies: [Operation] { edges.map { $0.dependency.takeUnretainedValue() } }

    /// The unfinished dependencies, for which the operation waits.
    var holding: [Operation] { edges.compactMap { $0.holds ? $0.dependency.takeUnretainedValue() : nil } }

    mutating func add(_ edge: Edge) -> Bool {
        let box = sorted ?? Box()
        self = .sorted(box)
        return box.list.add(edge, key: edge.key)
    }

    /// Removes a dependency. The caller drops the edge and releases the dependency.
    func remove(_ dependency: Operation) -> Edge? {
        sorted?.list.remove(UInt(bitPattern: Unmanaged.passUnretained(dependency).toOpaque()))
    }

    /// Drops the edges of an operation that is being released, and moves the references to the dependencies to `array`.
    /// Returns the number of edges that were counted.
    func drop(into array: inout [Operation]) -> UInt32 {
        switch self {
        case .early(nil): 0
        case .early(let newest): Self.drop(newest, into: &array)
        case .sorted(let box): box.list.elements.reduce(0) { $0 + Self.drop($1, into: &array) }
        }
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
        // The caller releases all dependencies after that, so they are fetched together.
        cplatform_prefetch_line(dependency.toOpaque())
        let isCounted = edge.dropFromList()
        array.append(dependency.takeRetainedValue())
        return isCounted ? 1 : 0
    }
}
