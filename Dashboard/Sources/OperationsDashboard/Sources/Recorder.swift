import DashboardCore
import Operations
import Synchronization

/// The record of a queue's events while a page is open. Bounded: the latest 2,000 operations that ended.
final class Recorder: Sendable {
    struct Ended: Sendable {
        var id: Int64
        var name: String
        /// `done`, `failed` or `cancelled`.
        var state: String
        var error: String?
        var end: Double
        var waited: Double
        /// nil if the operation never started.
        var ran: Double?
    }

    struct State {
        var ended = Ring<Ended>(limit: 2000)
        var counts: [String: Int] = [:]
        /// The times at which waiting operations were added, for those whose addition was recorded.
        var added: [Int64: Double] = [:]
        var budget = RecordingBudget(now: PageClock.now)
        /// Whether a burst has ended the recording, so that counts of ends are incomplete.
        var isIncomplete = false
        var task: Task<Void, Never>?
        /// The number of the recording: an event of an earlier one is ignored.
        var number = 0
    }

    private static let addedLimit = 20_000
    private let state = Mutex(State())

    func read<Value>(_ body: (inout State) -> sending Value) -> sending Value { state.withLock { body(&$0) } }

    var isRecording: Bool { state.withLock { $0.task != nil } }

    /// Begins to record the operations of the queue: those that it holds, and those that are added from now on.
    func begin(_ queue: OperationQueue) {
        guard !isRecording else { return }
        let events = queue.events(bufferingPolicy: .bufferingOldest(4096), includesPresent: true)
        let number = state.withLock { state in
            state.number += 1
            state.budget = RecordingBudget(now: PageClock.now)
            return state.number
        }
        // The task does not hold the recorder while it waits for an event.
        let task = Task { [weak self] in
            for await event in events {
                guard let self, self.note(event, in: number) else { break }
            }
            self?.ended(number)
        }
        let isOver = state.withLock { state in
            guard state.number == number else { return true }
            state.task = task
            return false
        }
        if isOver { task.cancel() }
    }

    /// Ends the recording, and forgets everything.
    func end() {
        let task = state.withLock { state in
            let task = state.task
            let number = state.number + 1
            state = State()
            state.number = number
            return task
        }
        task?.cancel()
    }

    private func ended(_ number: Int) {
        state.withLock { if $0.number == number { $0.task = nil } }
    }

    /// Notes an event. Returns whether the recording continues.
    private func note(_ event: OperationEvent, in number: Int) -> Bool {
        let id = Int64(bitPattern: event.operationID)
        let time = PageClock.seconds(event.time)
        var ended: Ended?
        if case .finished(let outcome, let waited, let ran) = event.kind {
            ended = Ended(
                id: id, name: ShortText.cut(event.shortName), state: outcome.word,
                error: outcome?.failure.map { ShortText.cut("\($0)", to: ShortText.noteLimit) }, end: time,
                waited: waited.inSeconds, ran: ran?.inSeconds)
        }
        return state.withLock { state in
            guard state.number == number else { return false }
            if let ended {
                state.added[id] = nil
                state.counts[ended.state, default: 0] += 1
                state.ended.append(ended)
            } else if case .added = event.kind, state.added.count < Self.addedLimit {
                state.added[id] = time
            }
            guard state.budget.spend(now: PageClock.now) else {
                state.isIncomplete = true
                state.added = [:]
                return false
            }
            return true
        }
    }
}

extension OperationOutcome? {
    fileprivate var word: String {
        switch self {
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .succeeded, nil: "done"
        }
    }
}

/// The latest elements of a sequence.
struct Ring<Element> {
    private var storage: [Element] = []
    private var next = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func append(_ element: Element) {
        if storage.count < limit { storage.append(element) } else { storage[next] = element }
        next = (next + 1) % limit
    }

    /// The elements, the latest first.
    var latestFirst: [Element] {
        storage.count < limit ? storage.reversed() : (storage[next...] + storage[..<next]).reversed()
    }
}
