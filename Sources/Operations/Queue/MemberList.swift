@_spi(Hosting) import KeyValueObserving

/// The operations of a queue, in the order added, for observers of `operations` that request values.
///
/// The list follows the queue change by change, as observers are notified, so that no list is made under the queue's
/// lock. It exists from the first change for which an observer requests a value until the first change for which no
/// observer does.
final class MemberList: @unchecked Sendable {
    // Sendable: only the thread whose turn it is to notify of `operations` uses it. Turns pass under the queue's lock.
    private var unsorted: [OperationQueue.Arrival]?
    private var operations: [Operation] = []

    init(of members: [OperationQueue.Arrival]) { unsorted = members }

    fileprivate var present: [Operation] {
        sort()
        return operations
    }

    private func sort() {
        guard let members = unsorted?.sorted(by: { $0.arrival < $1.arrival }) else { return }
        operations = members.map(\.operation)
        unsorted = nil
    }

    /// Adds an operation. O(1) on average, unless an observer has kept the previous list.
    fileprivate func append(_ operation: Operation) {
        sort()
        operations.append(operation)
    }

    /// Removes an operation. O(n).
    fileprivate func remove(_ operation: Operation) {
        sort()
        if let index = operations.firstIndex(where: { $0 === operation }) { operations.remove(at: index) }
    }
}

/// A change of the members of a queue. Makes the lists before and after the change when observers are notified.
final class MemberChange: LateValues {
    private let list: MemberList
    private let operation: Operation
    private let joins: Bool

    init(of list: MemberList, _ operation: Operation, joins: Bool) {
        self.list = list
        self.operation = operation
        self.joins = joins
    }

    func values(isPrior: Bool, wantsOld: Bool, wantsNew: Bool) -> (old: Any?, new: Any?) {
        let old: Any? = wantsOld ? list.present : nil
        if isPrior { return (old, nil) }
        if joins { list.append(operation) } else { list.remove(operation) }
        return (old, wantsNew ? list.present : nil)
    }
}
