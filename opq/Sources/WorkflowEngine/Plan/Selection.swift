/// The part of a workflow that a run executes.
public struct Selection: Equatable, Sendable {
    /// The operations and families to run, with everything that they need.
    public var targets: [String] = []
    /// The operations and families to run, without those that they need.
    public var only: [String] = []
    /// The operations and families to run, with everything that comes after them.
    public var from: [String] = []
    /// The operations and families with which the run ends. Like ``targets``, and the run has no others.
    public var until: [String] = []

    /// Creates the selection of all operations.
    public init() {}

    /// Whether the selection contains all operations.
    public var isEverything: Bool { targets.isEmpty && only.isEmpty && from.isEmpty && until.isEmpty }
}

/// The reason why a selection cannot be made.
public struct SelectionFailure: Error, Equatable {
    /// A description of the reason, with the remedy.
    public let text: String
}

extension WorkflowPlan {
    /// Returns the plan of the selected operations, in the same order. An operation no longer waits for those that are not
    /// selected. O(operations and links).
    ///
    /// - Throws: ``SelectionFailure`` if a name is unknown, or if no operation is left.
    public func selecting(_ selection: Selection) throws(SelectionFailure) -> WorkflowPlan {
        guard !selection.isEverything else { return self }
        var isKept = [Bool](repeating: true, count: operations.count)
        func keep(_ isSelected: [Bool]) {
            for index in isKept.indices where !isSelected[index] { isKept[index] = false }
        }
        if !selection.only.isEmpty { keep(try indices(named: selection.only)) }
        let ends = selection.targets + selection.until
        if !ends.isEmpty { keep(needed(by: try indices(named: ends))) }
        if !selection.from.isEmpty { keep(following(try indices(named: selection.from))) }
        guard isKept.contains(true) else {
            throw SelectionFailure(
                text: "no operation is selected: no operation is both after --from and before the others")
        }
        return selecting(isKept)
    }

    /// Returns the plan of some operations, in the same order.
    func selecting(_ isKept: [Bool]) -> WorkflowPlan {
        // The number of kept operations before each index, which is the new index.
        var places = [0]
        places.reserveCapacity(isKept.count + 1)
        for kept in isKept { places.append(places[places.count - 1] + (kept ? 1 : 0)) }
        var selected: [PlannedOperation] = []
        selected.reserveCapacity(places[isKept.count])
        for (index, operation) in operations.enumerated() where isKept[index] {
            var operation = operation
            operation.awaited = operation.awaited.compactMap { range in
                let range = places[range.lowerBound]..<places[range.upperBound]
                return range.isEmpty ? nil : range
            }
            selected.append(operation)
        }
        let barriers = BarrierOrder(selected)
        for index in selected.indices { selected[index].barrierAhead = barriers.ahead[index] }
        let names = Set(selected.map(\.queue))
        let left = operations.indices.lazy.filter { !isKept[$0] }.map { operations[$0] }
        return WorkflowPlan(
            name: name, queues: queues.filter { names.contains($0.name) }, operations: selected,
            possibleOrder: possibleOrder.filter { isKept[$0] }.map { places[$0] },
            describedCount: Set(selected.map(\.family)).count, hasFamilies: selected.contains { $0.item != nil },
            settings: settings, directory: directory,
            otherNames: otherNames + left.map(\.name),
            otherInputs: otherInputs
                + left.compactMap { operation in
                    operation.settings.inputs.map {
                        DeclaredInputs(directory: operation.directory, patterns: $0)
                    }
                })
    }

    /// Marks the operations and the members of families with these names.
    private func indices(named names: [String]) throws(SelectionFailure) -> [Bool] {
        var isNamed = [Bool](repeating: false, count: operations.count)
        var missing = Set(names)
        for (index, operation) in operations.enumerated() {
            for name in [operation.name, operation.family] where names.contains(name) {
                isNamed[index] = true
                missing.remove(name)
            }
            guard operation.growth != nil else { continue }
            // The items are not known yet, so the whole family stands for one.
            for name in names where name.hasPrefix(operation.name + "[") {
                isNamed[index] = true
                missing.remove(name)
            }
        }
        guard let unknown = names.first(where: { missing.contains($0) }) else { return isNamed }
        if unknown.isEmpty { throw SelectionFailure(text: "the name of an operation is empty") }
        var known: [String] = []
        for operation in operations where operation.family != known.last { known.append(operation.family) }
        if let family = known.first(where: { unknown.hasPrefix($0 + "[") }) {
            known = operations.filter { $0.family == family }.map(\.name)
        }
        let remedy = suggestion(for: unknown, among: known) ?? "'opq run --list' lists the names"
        throw SelectionFailure(text: "unknown operation '\(unknown)'; \(remedy)")
    }

    private func needed(by start: [Bool]) -> [Bool] {
        var isNeeded = start
        var open = start.indices.filter { start[$0] }
        // A family that many operations wait for is walked once.
        var seen: Set<Range<Int>> = []
        while let index = open.popLast() {
            for range in operations[index].awaited where seen.insert(range).inserted {
                for awaited in range where !isNeeded[awaited] {
                    isNeeded[awaited] = true
                    open.append(awaited)
                }
            }
        }
        return isNeeded
    }

    private func following(_ start: [Bool]) -> [Bool] {
        // A possible order has each operation after those that it waits for, so one pass finds all.
        var follows = start
        var known: [Range<Int>: Bool] = [:]
        for index in possibleOrder where !follows[index] {
            follows[index] = operations[index].awaited.contains { range in
                if let known = known[range] { return known }
                let result = range.contains { follows[$0] }
                if range.count > 1 { known[range] = result }
                return result
            }
        }
        return follows
    }
}

extension WorkflowPlan {
    /// Lines with the names of the operations and families, their numbers of items and their commands.
    public var listing: [String] {
        var families: [(first: PlannedOperation, count: Int)] = []
        for operation in operations {
            if let last = families.last, last.first.family == operation.family, operation.item != nil {
                families[families.count - 1].count += 1
            } else {
                families.append((operation, 1))
            }
        }
        let names = families.map { $0.first.family + ($0.first.item == nil ? "" : " (\($0.count))") }
        let width = min(40, names.map(\.visible.columnCount).max() ?? 0)
        return zip(names, families).map { name, family in
            let line = family.first.command.split(separator: "\n").first.map(String.init) ?? ""
            let space = String(repeating: " ", count: max(0, width - name.visible.columnCount) + 2)
            return name.visible + space + line.visible
        }
    }
}
