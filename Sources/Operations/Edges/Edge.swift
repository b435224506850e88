import CPlatform
import SchedulerCore
import Synchronization

/// One dependency of one operation: a record in one allocation, which serves both operations.
///
/// The record has two owners. The *list* is the set of dependencies of the dependent. The *stack* is the set of
/// dependents of the dependency. Each owner clears its mark when it drops the record, and the last owner frees it. The list
/// also owns a reference to the dependency, so a dependency is never released while a list has a record of it.
///
/// Nothing owns a reference to the dependent. While the mark `holds` is set, the dependent counts the record in
/// `Lifecycle.unfinished`. The thread that clears the mark also decrements the count. The `deinit` of the dependent clears
/// the marks of its records, and then waits until no other thread has a count to decrement. So the thread that has cleared
/// the mark may use the word of the dependent until it has decremented the count (rule D6).
struct Edge: @unchecked Sendable {
    // Sendable: `marks` is atomic, and each link belongs to one owner.
    private struct Record: ~Copyable {
        let marks: Atomic<UInt32>
        var credit: UInt32 = 0
        let dependent: Unmanaged<Operation>
        let dependency: Unmanaged<Operation>
        var nextOfStack: UInt = 0
        var nextOfList: UInt = 0
    }

    private struct Marks {
        /// The dependent waits for the dependency, and counts it.
        static var holds: UInt32 { 1 }
        /// The list owns the record.
        static var listed: UInt32 { 2 }
        /// The stack, or a thread that is about to push, owns the record.
        static var stacked: UInt32 { 4 }
        /// The dependent is a plain block operation.
        static var plain: UInt32 { 8 }
    }

    private let record: UnsafeMutablePointer<Record>

    /// Creates a record that belongs to a list. Retains the dependency.
    @inline(__always)
    init(of dependent: Operation, on dependency: Operation, holds: Bool) {
        var marks = Marks.listed
        if holds { marks |= Marks.holds | Marks.stacked }
        if dependent.isPlainBlock { marks |= Marks.plain }
        record = cplatform_allocate(MemoryLayout<Record>.size).assumingMemoryBound(to: Record.self)
        record.initialize(
            to: Record(
                marks: Atomic(marks), dependent: .passUnretained(dependent), dependency: .passRetained(dependency)))
    }

    /// The address of a record. See `Allocation.alignment`.
    var address: UInt { UInt(bitPattern: record) }

    init?(address: UInt) {
        guard let record = UnsafeMutablePointer<Record>(bitPattern: address) else { return nil }
        self.record = record
    }

    private func free() {
        record.deinitialize(count: 1)
        cplatform_free(record)
    }

    // MARK: - List

    /// The dependency; retained by the list.
    var dependency: Unmanaged<Operation> { record.pointee.dependency }

    /// The record of the list that was added before this one. Constant once the record is in a list.
    var nextOfList: Edge? {
        get { Edge(address: record.pointee.nextOfList) }
        nonmutating set { record.pointee.nextOfList = newValue?.address ?? 0 }
    }

    /// The key of the dependency in lists.
    var key: UInt { UInt(bitPattern: dependency.toOpaque()) }

    var holds: Bool { record.pointee.marks.load(ordering: .relaxed) & Marks.holds != 0 }

    /// Marks the record as counted. Before any other thread has the record, or under the lock of its list.
    func hold() {
        Primitives.noteExchange()
        record.pointee.marks.bitwiseOr(Marks.holds | Marks.stacked, ordering: .relaxed)
    }

    /// Drops the record of a list. The caller releases the dependency. True: the dependent waited for it, and the caller
    /// decrements the count.
    func dropFromList() -> Bool {
        // The stack drops a finished record first. Then no other thread has the record.
        if record.pointee.marks.load(ordering: .acquiring) & (Marks.holds | Marks.stacked) == 0 {
            free()
            return false
        }
        Primitives.noteExchange()
        let old = record.pointee.marks.bitwiseAnd(
            ~(Marks.listed | Marks.holds), ordering: .acquiringAndReleasing
        ).oldValue
        if old & Marks.stacked == 0 { free() }
        return old & Marks.holds != 0
    }

    // MARK: - Stack

    /// The record that was pushed before this one. Belongs to the thread that pushes, and then to the owner of the stack.
    var nextOfStack: Edge? {
        get { Edge(address: record.pointee.nextOfStack) }
        nonmutating set { record.pointee.nextOfStack = newValue?.address ?? 0 }
    }

    /// The number of further checks before the stack is swept, in the newest record that has one. See `DependentStack`.
    var credit: UInt32 {
        get { record.pointee.credit }
        nonmutating set { record.pointee.credit = newValue }
    }

    var isListed: Bool { record.pointee.marks.load(ordering: .acquiring) & Marks.listed != 0 }

    /// Begins to fetch the word of the dependent. The dependent may be released already, which does no harm.
    func prefetchDependent() { Operation.prefetchWord(of: record.pointee.dependent) }

    /// Begins to fetch the record.
    func prefetch() { cplatform_prefetch_line(record) }

    /// A dependent that waits no longer for the dependency, and counts it until the caller decrements the count.
    struct Released {
        let dependent: Unmanaged<Operation>
        let isPlain: Bool
    }

    /// Drops the record of a stack. nil: the dependent does not wait for the dependency.
    @inline(__always)
    func dropFromStack() -> Released? {
        let dependent = record.pointee.dependent
        Primitives.noteExchange()
        let old = record.pointee.marks.bitwiseAnd(
            ~(Marks.holds | Marks.stacked), ordering: .acquiringAndReleasing
        ).oldValue
        if old & Marks.listed == 0 { free() }
        guard old & Marks.holds != 0 else { return nil }
        return Released(dependent: dependent, isPlain: old & Marks.plain != 0)
    }
}
