import SchedulerCore

/// The properties of an operation that are announced when they change, as a set.
package struct ObservedProperty: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let isCancelled = Self(rawValue: 1)
    package static let isAsynchronous = Self(rawValue: 2)
    package static let isExecuting = Self(rawValue: 4)
    package static let isFinished = Self(rawValue: 8)
    package static let isReady = Self(rawValue: 16)
    package static let dependencies = Self(rawValue: 32)
    package static let queuePriority = Self(rawValue: 64)
    package static let completionBlock = Self(rawValue: 128)
    package static let name = Self(rawValue: 256)
    package static let qualityOfService = Self(rawValue: 512)

    /// The property of a string key in either spelling, `"isFinished"` or `"finished"`; nil for a subclass's own.
    package init?(key: String) {
        switch key {
        case "isCancelled", "cancelled": self = .isCancelled
        case "isAsynchronous", "asynchronous", "isConcurrent", "concurrent": self = .isAsynchronous
        case "isExecuting", "executing": self = .isExecuting
        case "isFinished", "finished": self = .isFinished
        case "isReady", "ready": self = .isReady
        case "dependencies": self = .dependencies
        case "queuePriority": self = .queuePriority
        case "completionBlock": self = .completionBlock
        case "name": self = .name
        case "qualityOfService": self = .qualityOfService
        default: return nil
        }
    }
}

// Announcing: what tells the system, and whoever observes, that a property changes.
extension Operation {
    /// Makes a change of the operation's own properties, announced around it. Costs a load when nobody observes.
    @inline(__always)
    final func announcing<Result>(_ properties: ObservedProperty, _ change: () -> Result) -> Result {
        guard word.lifecycle.contains(.observed) else { return change() }
        tell(.will, properties)
        let result = change()
        tell(.did, properties)
        return result
    }

    final func tell(_ change: Attachments.Watcher.Change, _ properties: ObservedProperty) {
        guard word.lifecycle.contains(.observed), let attachments else { return }
        let watchers = attachments.withLock { $0.watchers }
        HeldLocks.assertNone()
        for watcher in watchers { watcher.tell(change, properties, self) }
    }

    /// Watches everything the operation announces. Properties that change together come as one set.
    ///
    /// - Returns: What ends the watching.
    final func watch(
        _ tell: @escaping @Sendable (Attachments.Watcher.Change, ObservedProperty, Operation) -> Void
    ) -> () -> Void {
        let attachments = ownAttachments
        let id = attachments.withLock { state in
            let id = (state.watchers.last?.id ?? 0) + 1
            state.watchers.append(Attachments.Watcher(id: id, tell: tell))
            return id
        }
        word.insert(.observed)
        return {
            let gone = attachments.withLock { state in
                state.watchers.firstIndex { $0.id == id }.map { state.watchers.remove(at: $0) }
            }
            _ = consume gone
        }
    }

    /// User code says that a property has changed: the flow goes on from what the property, overridden or not, is now.
    final func announced(_ property: ObservedProperty) {
        if property.contains(.isFinished) { finishIfFinished() }
        if !property.isDisjoint(with: [.isReady, .isCancelled]) { reconsiderReadiness() }
        if property.contains(.queuePriority) { reconsiderPriority() }
    }
}
