public import OperationsTimeline

/// Facts about a run that has ended: the chain of operations that made it so long, and the use of each queue.
public struct RunFacts: Equatable, Sendable {
    /// An operation of the longest chain.
    public struct Link: Equatable, Sendable {
        public let name: String
        /// The time from the end of the link before this one, or from the start of the run, to the start of the command.
        public let waited: Duration
        public let ran: Duration
    }

    /// The time in which the command of an operation ran.
    struct Span: Equatable, Sendable {
        let name: String
        let queue: String
        let start, end: Duration
    }

    /// The use of a queue.
    public struct Queue: Equatable, Sendable {
        public let name: String
        /// The concurrency limit.
        public let limit: Int
        /// The number of commands that ran.
        public let count: Int
        /// The largest number of commands at a time.
        public let most: Int
        /// The part of the time in all places of the queue in which commands ran, from 0 to 1. It counts from the first start to
        /// the last end in the queue.
        public let use: Double
    }

    /// The chain that ended last. Each link waited for the one before it, which ended last of those that it waited for.
    public let chain: [Link]
    /// The queues in which commands ran, in the order of the plan.
    public let queues: [Queue]

    /// Finds the facts. O(operations · log(operations) + links).
    ///
    /// - Parameters:
    ///   - operations: The operations that ran, with the members of families that were found during the run.
    ///   - spans: The times of the operations.
    ///   - jobs: The concurrency limit of queues without one.
    public init(
        of plan: WorkflowPlan, _ operations: [PlannedOperation], _ spans: [OperationTimeline.Span], jobs: Int?
    ) {
        let spans = spans.compactMap { span in
            span.started.flatMap { start in
                span.finished.map { Span(name: span.name, queue: span.queue, start: start, end: $0) }
            }
        }
        self.init(of: plan, operations, spans, jobs: jobs)
    }

    init(of plan: WorkflowPlan, _ operations: [PlannedOperation], _ spans: [Span], jobs: Int?) {
        let times = Dictionary(spans.map { (ByteKey($0.name), (start: $0.start, end: $0.end)) }) { $1 }
        chain = Self.chain(of: plan, operations, times)
        queues = plan.queues.compactMap { queue in
            let own = spans.filter { $0.queue == queue.name }.compactMap { times[ByteKey($0.name)] }
            guard let start = own.map(\.start).min(), let end = own.map(\.end).max() else { return nil }
            let limit = queue.concurrency(jobs: jobs)
            let busy = own.reduce(Duration.zero) { $0 + ($1.end - $1.start) }
            // A queue with a high limit has as many places as operations.
            let places = Double(min(limit, own.count))
            let use = end > start ? min(busy / (end - start) / places, 1) : 0
            return Queue(name: queue.name, limit: limit, count: own.count, most: Self.most(own), use: use)
        }
    }

    private typealias Time = (start: Duration, end: Duration)

    private static func most(_ times: [Time]) -> Int {
        // At the same instant, an end comes before a start.
        let changes = times.flatMap { [($0.start, 1), ($0.end, -1)] }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        var (now, most) = (0, 0)
        for change in changes {
            now += change.1
            most = max(most, now)
        }
        return most
    }

    private static func chain(
        of plan: WorkflowPlan, _ operations: [PlannedOperation], _ times: [ByteKey: Time]
    ) -> [Link] {
        // The last member of each awaited family, found once.
        var known: [Range<Int>: Int?] = [:]
        var stands: [String: (name: String, time: Time)] = [:]
        for operation in operations {
            guard let time = times[ByteKey(operation.name)] else { continue }
            if stands[operation.family].map({ time.end > $0.time.end }) ?? true {
                stands[operation.family] = (operation.name, time)
            }
        }
        func place(_ index: Int) -> (name: String, time: Time)? {
            let operation = plan.operations[index]
            if operation.growth != nil { return stands[operation.family] }
            return times[ByteKey(operation.name)].map { (operation.name, $0) }
        }
        func last(in range: Range<Int>) -> Int? {
            if let found = known[range] { return found }
            let found = range.max { (place($0)?.time.end ?? .zero) < (place($1)?.time.end ?? .zero) }
            known[range] = .some(found)
            return found
        }
        var links: [Link] = []
        var next = last(in: plan.operations.indices)
        while let index = next, let (name, time) = place(index) {
            let operation = plan.operations[index]
            let ahead = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
            let before = (operation.awaited + ahead).compactMap(last).max {
                (place($0)?.time.end ?? .zero) < (place($1)?.time.end ?? .zero)
            }
            let ready = before.flatMap(place)?.time.end ?? .zero
            links.append(Link(name: name, waited: max(time.start - ready, .zero), ran: time.end - time.start))
            next = before
        }
        return links.reversed()
    }
}
