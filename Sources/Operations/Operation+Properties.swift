import SchedulerCore

// Priority, service level, name, description.
extension Operation {
    final func setPriority(_ priority: QueuePriority) {
        exchangeInWord([.queuePriority], priority, read: { QueuePriority($0.priority) }) { $0.priority = priority.lane }
        reconsiderPriority()
    }

    /// Reads `queuePriority`, overridden or not, and passes the value to the queue. The queue orders its operations again
    /// before the next start (rule P3).
    final func reconsiderPriority() {
        let lane = untracked { queuePriority.lane }
        let lent = word.lifecycle.lends
        let reordering = word.decide { $0.reordered(lane) }
        // Read after the word has shown that the operation waits in a queue. From then on it cannot leave the queue
        // before this push. An earlier read might find the queue from before the addition: none.
        if case .push = reordering { queue?.takeUnretainedValue().push(self, last: nil) }
        if Self.waitsAreFollowed, word.lifecycle.lends > lent { lendOn() }
    }

    final func setQualityOfService(_ quality: QualityOfService) {
        exchangeInWord([.qualityOfService], quality, read: { QualityOfService(serviceIndex: $0.serviceIndex) }) {
            $0.serviceIndex = quality.serviceIndex
        }
        reconsiderService()
        if LevelLending.isUsed { lendLevelOn() }
    }

    /// Reads `qualityOfService`, overridden or not, and passes the service to the queue, which then calls a worker of the level.
    final func reconsiderService() {
        let old = service
        untracked { readService() }
        // The thread that adds the operation, or drains the inbox, reads the new service.
        guard service != old, word.update({ $0.repinned() }) != nil else { return }
        queue?.takeUnretainedValue().push(self, last: nil)
    }

    final func setThreadPriority(_ priority: Double) {
        guard !word.lifecycle.hasStarted else { return }
        let clamped = priority.isNaN ? 0.5 : min(max(priority, 0), 1)
        ownAttachments.withExtras { $0.threadPriority = clamped }
    }

    final func setName(_ name: String?) {
        let new = Attachments.Extras()
        exchange([.name]) { state in
            let extras = state.extras(orNew: new)
            defer { extras.name = name }
            return (extras.name, name)
        }
    }

    /// The operation in messages: type and name, or address.
    final var label: String { OperationLabel(of: self).description }

    /// The operation's name, or its type if it has no name.
    package final var shortName: String { OperationLabel(of: self).shortName }

    final func describe() -> String {
        let state =
            isFinished ? "finished" : isExecuting ? "executing" : isReady ? "ready" : "waiting for dependencies"
        let cancelled = isCancelled ? ", cancelled" : ""
        let label = OperationLabel(of: self)
        let name = label.name.map(\.inQuotes) ?? "nil"
        return "<\(label.type) \(label.addressInHex) name: \(name), \(state)\(cancelled)>"
    }
}
