/// Work that is in no operation queue, as a program reports it: commands, or operations of the past.
public struct DashboardReport: Sendable {
    /// The state of an operation.
    public enum State: String, Sendable, CaseIterable {
        case waiting, running, done, failed, skipped, cancelled
    }

    /// An operation.
    public struct Operation: Sendable {
        public var name: String
        /// The queue; empty if there is none.
        public var queue = ""
        /// The name that similar operations share. A large graph has one node for all of them.
        public var family = ""
        public var state = State.waiting
        public var began: ContinuousClock.Instant?
        public var ended: ContinuousClock.Instant?
        /// The running time of an operation that has ended, if `began` or `ended` is unknown.
        public var ran: Duration?
        /// The reason of a failure, of a skip, or of success without work.
        public var note = ""
        /// The indexes of the operations that must end before this one. A range belongs to one family.
        public var dependencies: [Range<Int>] = []

        public init(name: String) { self.name = name }
    }

    /// More about one operation.
    public struct Detail: Sendable {
        /// The reason why the operation waits; empty for none.
        public var explanation = ""
        /// Titles and texts, such as a command.
        public var facts: [(title: String, text: String)] = []
        /// The end of the output; nil if the operation wrote nothing.
        public var output: String?

        public init() {}
    }

    public var operations: [Operation] = []
    /// The estimated time until the end of all operations; nil if it is unknown.
    public var timeLeft: Duration?
    /// The time that everything took; nil for the time since the first beginning.
    public var took: Duration?
    /// A sentence about the operation or the queue that holds everything up.
    public var notice: String?
    /// The time at which everything ended; nil while something may change.
    public var ended: ContinuousClock.Instant?

    public init() {}
}

/// A program that reports work to a dashboard.
///
/// The dashboard calls the methods on the thread of its server, only while a page is open, and about twice a second or less often
/// if a report takes long. A method must not wait.
public protocol DashboardReporter: AnyObject, Sendable {
    /// The present state. Operations keep their indexes: new ones follow the others.
    func report() -> DashboardReport
    /// The reason why an operation waits, for a row of the list; empty for none.
    func reason(for index: Int) -> String
    /// More about the operation at an index of the last report.
    func detail(of index: Int) -> DashboardReport.Detail
}
