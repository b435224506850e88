@_spi(Hosting) import KeyValueObserving

/// The operations of a queue, in the order added, for observers of `operations` that request values.
///
/// The list follows the queue change by change, as observers are notified, so that no list is made under the queue's
/// lock. It exists from the first change for which an observer requests a value until the first change for which no
/// observer does.
final class MemberList: @unchecked Sendable {
    // Sendable: only the thread whose turn it is to notify of `operations` uses it. Turns pass under the queue's lock.
    private var unsorted: [(arrival: UInt64, operation: Operation)]?
    private var arrivals: [UInt64] = []
    private var operations: [Operation] = []

    init(of members: [(arrival: UInt64, operation: Operation)]) { unsorted = members }

    fileprivate var present: [Operation] {
        sort()
        return operations
    }

    private func sort() {
        guard let members = unsorted?.sorted(by: { $0.arrival < $1.arrival }) else { return }
        (arrivals, operations) = (members.map(\.arrival), members.map(\.operation))
        unsorted = nil
    }

    /// Adds an operation. O(1) on average, unless an observer has kept the previous list.
    fileprivate func append(_ operation: Operation, arrival: UInt64) {
        sort()
        arrivals.append(arrival)
        operations.append(operation)
    }

    /// Removes an operation. O(n), because the later elements of the array move.
    fileprivate func remove(arrival: UInt64) {
        sort()
        var (low, high) = (0, arrivals.count)
        while low < high {
            let middle = (low + high) / 2
            if arrivals[middle] < arrival { low = middle + 1 } else { high = middle }
        }
        guard low < arrivals.count, arrivals[low] == arrival else { return }
        arrivals.remove(at: low)
        operations.remove(at: low)
    }
}

/// A change of the members of a queue. Makes the lists before and after the change when observers are notified.
final class MemberChange: LateValues {
    private let list: MemberList
    private let operation: Operation
    private let arrival: UInt64
    private let joins: Bool

    init(of list: MemberList, _ operation: Operation, arrival: UInt64, joins: Bool) {
        self.list = list
        self.operation = operation
        self.arrival = arrival
        self.joins = joins
    }

    func values(isPrior: Bool, wantsOld: Bool, wantsNew: Bool) -> (old: Any?, new: Any?) {
        let old: Any? = wantsOld ? list.present : nil
        if isPrior { return (old, nil) }
        if joins { list.append(operation, arrival: arrival) } else { list.remove(arrival: arrival) }
        return (old, wantsNew ? list.present : nil)
    }
}
