import Synchronization

/// Who keeps a queue's progress. The place where `OperationsFoundation` joins the flow.
package protocol ProgressReporter: AnyObject, Sendable {
    /// `main()` of an operation of the queue is about to run on this thread.
    func willRunMain(of operation: Operation)
    /// It has returned, on the same thread.
    func didRunMain(of operation: Operation)
}

extension OperationQueue {
    /// Who keeps the queue's progress; nil for most queues, which then pay nothing.
    package final var progressReporter: (any ProgressReporter)? { reporterReference.load()?.reporter }

    /// Installs a reporter, unless there is one. Answers the one there is.
    package final func installProgressReporter(_ reporter: any ProgressReporter) -> any ProgressReporter {
        reporterReference.storeIfNil(InstalledReporter(reporter)).reporter
    }
}

/// A reporter as a class instance, so that a queue without one pays a load and no lock.
final class InstalledReporter: Sendable {
    let reporter: any ProgressReporter

    init(_ reporter: any ProgressReporter) { self.reporter = reporter }
}
