import Operations
import TestSupport

/// A queue whose stalls are recorded.
final class StallObserver: Sendable {
    let queue = OperationQueue()
    private let log = Journal<StallReport>()
    private let signals = Journal<Gate>()

    init(delay: Duration = .milliseconds(1)) {
        queue.name = "observed"
        let (log, signals) = (log, signals)
        queue.stallHandler = { report in
            log.append(report)
            signals.entries.last?.open()
        }
        queue.stallDelay = delay
    }

    var reports: [StallReport] { log.entries }

    /// Runs a closure that stalls the queue, and returns the report.
    func report(after stall: () -> Void) -> StallReport {
        let gate = Gate()
        signals.append(gate)
        stall()
        gate.pass()
        return log.entries.last!
    }

    /// Empties the queue, regardless of the waiting reasons of its operations.
    func clear() {
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Returns after many timers like those of an observer have fired, one after the other.
    static func letTimersPass() {
        for _ in 0..<5 {
            let other = StallObserver(delay: .milliseconds(2))
            other.queue.isSuspended = true
            _ = other.report { other.queue.addOperation {} }
            other.clear()
        }
    }
}

extension Operations.Operation {
    convenience init(named name: String) {
        self.init()
        self.name = name
    }
}

extension StallReport {
    /// The reasons by the name of the operation.
    var reasons: [String: [WaitingReason]] {
        Dictionary(uniqueKeysWithValues: blocked.map { ($0.operation, $0.reasons) })
    }
}
