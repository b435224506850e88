/// Who keeps a queue's progress. The place where `OperationsFoundation` joins the flow.
package protocol ProgressReporter: AnyObject, Sendable {
    /// `main()` of an operation of the queue is about to run on this thread.
    func willRunMain(of operation: Operation)
    /// It has returned, on the same thread.
    func didRunMain(of operation: Operation)
}

extension OperationQueue {
    /// Who keeps the queue's progress; nil for most queues, which then pay nothing.
    package final var progressReporter: (any ProgressReporter)? {
        state.withLock { $0.progressReporter }
    }

    /// Installs a reporter, unless there is one. Answers the one there is.
    package final func installProgressReporter(_ reporter: any ProgressReporter) -> any ProgressReporter {
        state.withLock { state in
            if let present = state.progressReporter { return present }
            state.progressReporter = reporter
            return reporter
        }
    }
}
