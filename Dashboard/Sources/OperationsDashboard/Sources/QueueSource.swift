import DashboardCore
import Operations
import Synchronization

/// A queue of this process. Reads public API only, on the thread of the server, and holds no lock while it does.
final class QueueSource: Source {
    let id: String
    weak let queue: OperationQueue?
    let permitsSteering: Bool
    let recorder = Recorder()

    struct State {
        var isOpen = false
        var lately = RateWindow(span: 10)
        var minutes = RateWindow(span: 300)
        /// The operation that was added first, and the time at which the page first saw it there.
        var oldest: (operation: ObjectIdentifier, seen: Double)?
        /// The objects of the rows that a page has, by their numbers. The objects are not kept alive.
        var shown: [Int64: ObjectIdentifier] = [:]
    }

    let state = Mutex(State())

    init(_ queue: OperationQueue, id: String, permitsSteering: Bool) {
        (self.queue, self.id, self.permitsSteering) = (queue, id, permitsSteering)
    }

    func open() {
        let isNew = state.withLock { state in
            defer { state.isOpen = true }
            return !state.isOpen
        }
        if isNew, let queue { recorder.begin(queue) }
    }

    func close() {
        state.withLock { $0 = State() }
        recorder.end()
    }

    func answer(_ question: Question, done: @escaping @Sendable (Result<JSON, HTTPStatus>) -> Void) {
        guard let queue else {
            if case .overview = question { return done(.success(.members(["id": .text(id), "gone": .boolean(true)]))) }
            return done(.failure(.notFound))
        }
        switch question {
        case .overview: done(.success(overview(of: queue)))
        case .operations(let query): done(.success(rows(of: queue, query)))
        case .operation(let number): done(detail(of: queue, number).map(Result.success) ?? .failure(.notFound))
        case .timeline(let seconds): done(.success(timeline(of: queue, seconds)))
        case .graph: done(.success(FoldedGraph(graph(of: queue)).json))
        case .steer(let command): done(permitsSteering ? steer(queue, command) : .failure(.forbidden))
        }
    }

    /// Remembers an operation of a row.
    func show(_ operation: Operation) -> Int64 {
        let number = Int64(bitPattern: operation.eventID)
        state.withLock { state in
            if state.shown.count > 5000 { state.shown = [:] }
            state.shown[number] = ObjectIdentifier(operation)
        }
        return number
    }

    /// Returns the operation of a row, unless it has left the queue. Another operation may have the address of a released one, so
    /// the number is compared too.
    func find(_ number: Int64, in queue: OperationQueue) -> Operation? {
        guard let object = state.withLock({ $0.shown[number] }) else { return nil }
        return queue.presentOperations.first {
            ObjectIdentifier($0) == object && Int64(bitPattern: $0.eventID) == number
        }
    }
}
