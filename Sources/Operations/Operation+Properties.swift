import SchedulerCore

// Priority, service level, name, description.
extension Operation {
    final func setPriority(_ priority: QueuePriority) {
        announcing([.queuePriority]) { word.change { $0.priority = priority.lane } }
        reconsiderPriority()
    }

    /// Reads `queuePriority`, overridden or not, and tells the queue; it re-orders before it starts the next (rule P3).
    final func reconsiderPriority() {
        guard word.lifecycle.phase == .enqueued else { return }
        let lane = queuePriority.lane
        let queue = queue
        let pinned = word.update { lifecycle in
            guard lifecycle.phase == .enqueued, lifecycle.effectivePriority != lane else { return nil }
            var next = lifecycle.pinned() ?? lifecycle
            next.effectivePriority = lane
            return next
        }
        // The pin that was there before is another thread's to push.
        guard let pinned, !pinned.contains(.inInbox) else { return }
        queue?.takeUnretainedValue().push(self, last: nil)
    }

    final func setQualityOfService(_ quality: QualityOfService) {
        announcing([.qualityOfService]) {
            word.change { $0.serviceIndex = quality.serviceIndex }
        }
    }

    final func setThreadPriority(_ priority: Double) {
        guard !word.lifecycle.hasStarted else { return }
        let clamped = priority.isNaN ? 0.5 : min(max(priority, 0), 1)
        ownAttachments.withLock { $0.threadPriority = clamped }
    }

    final func setName(_ name: String?) {
        announcing([.name]) { ownAttachments.withLock { $0.name = name } }
    }

    /// The operation in messages: type and name, or address.
    final var label: String { "\(type(of: self)) \(name.map { "'\($0)'" } ?? address)" }

    private final var address: String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    }

    final func describe() -> String {
        let state =
            isFinished ? "finished" : isExecuting ? "executing" : isReady ? "ready" : "waiting for dependencies"
        let cancelled = isCancelled ? ", cancelled" : ""
        return "<\(type(of: self)) \(address) name: \(name.map { "'\($0)'" } ?? "nil"), \(state)\(cancelled)>"
    }
}
