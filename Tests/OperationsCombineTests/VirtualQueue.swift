#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import OperationsTesting
import TestSupport

/// A queue that runs in steps, with a virtual clock that the test advances.
struct VirtualQueue {
    let executor = ManualExecutor()
    let clock = VirtualClock()
    let queue: OperationQueue
    let scheduler: QueueScheduler
    /// The values that have arrived, with their seconds.
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

    /// Records all values and the completion of a publisher.
    func note<P: Publisher>(_ publisher: P) -> AnyCancellable {
        publisher.sink(
            receiveCompletion: { if case .failure(let error) = $0 { note("\(error)") } else { note("end") } },
            receiveValue: { note("\($0)") })
    }

    func run(until second: Double) { executor.run(until: .init(offset: .seconds(second)), of: clock) }

    /// Runs until no step and no sleeper is left.
    func run() { executor.runUntilIdle(advancing: clock, limit: 100_000) }

    /// The arrivals as text, such as `1@0.0`.
    var arrivals: [String] { journal.entries.map(\.description) }

    func instant(_ second: Double) -> OperationQueue.SchedulerTimeType {
        .init(Date(timeIntervalSinceReferenceDate: second))
    }
}
#endif
