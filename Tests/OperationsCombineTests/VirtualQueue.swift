#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import OperationsTesting
import TestSupport

/// A queue that runs when the test says so, in a time that the test moves.
struct VirtualQueue {
    let executor = ManualExecutor()
    let clock = VirtualClock()
    let queue: OperationQueue
    let scheduler: QueueScheduler
    /// What arrived, and in which second.
    let journal = Journal<Arrival>()

    struct Arrival: Equatable, CustomStringConvertible {
        let what: String
        let second: Double

        var description: String { "\(what)@\(second)" }
    }

    init() {
        queue = executor.makeQueue()
        scheduler = queue.scheduler(clock: clock)
    }

    var second: Double { clock.now.offset / .seconds(1) }

    func note(_ what: String) { journal.append(Arrival(what: what, second: second)) }

    /// Notes all that comes from a publisher.
    func note<P: Publisher>(_ publisher: P) -> AnyCancellable {
        publisher.sink(
            receiveCompletion: { if case .failure(let error) = $0 { note("\(error)") } else { note("end") } },
            receiveValue: { note("\($0)") })
    }

    func run(until second: Double) { executor.run(until: .init(offset: .seconds(second)), of: clock) }

    /// Until nothing is left to do, ever.
    func run() { executor.runUntilIdle(advancing: clock, limit: 100_000) }

    /// What arrived, such as `1@0.0`.
    var arrivals: [String] { journal.entries.map(\.description) }

    func instant(_ second: Double) -> OperationQueue.SchedulerTimeType {
        .init(Date(timeIntervalSinceReferenceDate: second))
    }
}
#endif
