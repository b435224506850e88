import DashboardCore

/// A question of a page to a source.
enum Question: Sendable {
    case overview
    case operations(OperationSearch)
    case operation(Int64)
    case timeline(seconds: Int)
    case graph
    case steer(Command)
}

/// A queue or a store.
protocol Source: AnyObject, Sendable {
    /// The name of the source in addresses.
    var id: String { get }
    /// A page has been opened. The source may begin to record.
    func open()
    /// The last page has been closed. The source must not cost anything any more.
    func close()
    /// Answers a question: at once on this thread, or later on any thread. Calls `done` once.
    func answer(_ question: Question, done: @escaping @Sendable (Result<JSON, HTTPStatus>) -> Void)
}

/// The clock of all times on the page: seconds since its first use.
enum PageClock {
    private static let start = ContinuousClock.now

    static var now: Double { seconds(.now) }
    static func seconds(_ instant: ContinuousClock.Instant) -> Double { (instant - start).inSeconds }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
