import HTTPCore
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response and its body, before decoding.
struct HTTPAnswer: Sendable {
    let body: Data
    let response: HTTPResponse
}

extension HTTPSerializer where Value == HTTPAnswer {
    /// The serializer that accepts every status. Each caller that shares the transfer checks the status separately.
    static var answer: Self {
        Self(acceptableStatuses: nil) { body, response in HTTPAnswer(body: body, response: response) }
    }
}

/// The key of a shared transfer: everything that is sent, and its treatment, not only the address.
///
/// A request that is added after a change has another key than a request that was added before. The hash is computed once,
/// because lookups happen under a lock.
final class Sharing: Hashable, Sendable {
    private let request: HTTPRequestDescription
    /// The number of changes before the request.
    private let changes: Int
    /// Whether the request may share. A key that may not share equals only itself.
    private let isShared: Bool
    private let hash: Int

    init(_ request: HTTPRequestDescription, changes: Int, isShared: Bool) {
        self.request = request
        self.changes = changes
        self.isShared = isShared
        hash = isShared ? request.hashValue : 0
    }

    static func == (left: Sharing, right: Sharing) -> Bool {
        if left === right { return true }
        return left.hash == right.hash && left.isShared && right.isShared && left.changes == right.changes
            && left.request == right.request
    }

    func hash(into hasher: inout Hasher) {
        if isShared { hasher.combine(hash) } else { hasher.combine(ObjectIdentifier(self)) }
    }
}

/// One caller's claim to the response of a transfer, which others may share.
final class Wish: Sendable {
    let operation: HTTPOperation
    private let shared: HTTPDataOperation<HTTPAnswer>
    private let client: HTTPClientQueue
    private let waiter: Int
    private let key: Sharing
    private let state: Locked<State>

    private struct State {
        var priority: Operation.QueuePriority
        var isCancelled = false
        /// The tasks that await the response.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    init(
        _ operation: HTTPDataOperation<HTTPAnswer>, waiter: Int, _ key: Sharing, client: HTTPClientQueue,
        _ priority: Operation.QueuePriority
    ) {
        self.operation = operation
        shared = operation
        self.client = client
        self.waiter = waiter
        self.key = key
        state = Locked(State(priority: priority))
    }

    /// The address for errors.
    var url: String { operation.transfer.address?.redacted ?? HTTPAddress.redacted(operation.request.url) }

    var answer: HTTPAnswer {
        get async throws {
            if shared.isFinished, !state.withLock({ $0.isCancelled }) { return try await shared.value }
            let number = state.withLock { $0.nextNumber() }
            // Waiting for the end of the operation ignores cancellation, so another task waits for it.
            let ended = Task { [shared] in
                _ = try? await shared.value
                self.letGo()
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        if state.isCancelled || shared.isFinished || Task.isCancelled { return true }
                        state.waiting[number] = continuation
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                // Cancels only this task's wait. Other tasks may await the same response.
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
            if Task.isCancelled || state.withLock({ $0.isCancelled }) {
                throw HTTPError(.cancelled, url: url)
            }
            _ = await ended.value
            return try await shared.value
        }
    }

    /// Calls `use` with the response before the transfer ends. No call happens after a cancellation or after the transfer has
    /// ended.
    func whenReceived(_ use: @escaping @Sendable (HTTPAnswer) -> Void) {
        _ = shared.useValue { [weak self] answer in
            guard let self, !state.withLock({ $0.isCancelled }) else { return }
            use(answer)
        }
    }

    /// The number of tasks that await the response now.
    var waiterCount: Int { state.withLock { $0.waiting.count } }

    var priority: Operation.QueuePriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            client.setPriority(newValue, of: waiter)
        }
    }

    func pause() { client.setPaused(true, of: waiter, key) }

    func resume() { client.setPaused(false, of: waiter, key) }

    func cancel() {
        let isMine = state.withLock { state in
            guard !state.isCancelled, !shared.isFinished else { return false }
            state.isCancelled = true
            return true
        }
        guard isMine else { return }
        client.leave(waiter, key)
        letGo()
    }

    private func letGo() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension HTTPClientQueue {
    func join(_ request: HTTPRequestDescription, _ priority: Operation.QueuePriority) -> Wish {
        let mayShare = sharesTransfers && request.method.isSafe && request.body == .none
        // Created before the lock is taken, and discarded if a transfer exists already.
        let new = HTTPDataOperation(request, as: .answer, session: session)
        let key = Sharing(request, changes: session.changeCount, isShared: mayShare)
        // Set before another caller can join the transfer and raise the priority.
        new.queuePriority = priority
        var cancelled: HTTPDataOperation<HTTPAnswer>?
        defer { withExtendedLifetime(cancelled) {} }
        let (waiter, joining, operation, isAwoken) = shares.withLock { shares in
            // `cancelAll()` or another caller may have cancelled the operation without the waiters. Do not join such an
            // operation.
            if let transfer = shares.coalescer.transfer(of: key), shares.operations[transfer]?.isCancelled == true {
                shares.coalescer.ended(transfer, of: key)
                cancelled = shares.operations.removeValue(forKey: transfer)
            }
            let wasPaused = shares.coalescer.isPaused(key)
            let (waiter, joining) = shares.coalescer.join(key, priority: priority.rawValue)
            switch joining {
            case .begin(let transfer):
                shares.operations[transfer] = new
                return (waiter, joining, new, false)
            case .joined(let transfer, _):
                return (waiter, joining, shares.operations[transfer]!, wasPaused)
            }
        }
        switch joining {
        case .begin(let transfer):
            new.transfer.follow { [weak self] kind, _ in
                if case .finished = kind { self?.ended(transfer, of: key) }
            }
            // The operation is new, so no other thread has added it.
            try? enqueue(new)
        case .joined(_, let raised?): operation.queuePriority = .init(rawValue: raised) ?? priority
        case .joined: break
        }
        if case .joined = joining { ledger.joined() }
        if isAwoken { steer(key) }
        return Wish(operation, waiter: waiter, key, client: self, priority)
    }

    private func ended(_ transfer: Int, of key: Sharing) {
        let old = shares.withLock { shares in
            shares.coalescer.ended(transfer, of: key)
            return shares.operations.removeValue(forKey: transfer)
        }
        withExtendedLifetime(old) {}
    }

    func leave(_ waiter: Int, _ key: Sharing) {
        let leaving = shares.withLock { shares -> (HTTPDataOperation<HTTPAnswer>?, urgency: Int?, isChanged: Bool) in
            let wasPaused = shares.coalescer.isPaused(key)
            switch shares.coalescer.leave(waiter) {
            case .needless: return (nil, nil, false)
            case .goesOn(let transfer, let urgency):
                return (shares.operations[transfer], urgency, wasPaused != shares.coalescer.isPaused(key))
            case .stop(let transfer): return (shares.operations.removeValue(forKey: transfer), nil, false)
            }
        }
        guard let operation = leaving.0 else { return }
        if let urgency = leaving.urgency {
            operation.queuePriority = .init(rawValue: urgency) ?? .normal
            if leaving.isChanged { steer(key) }
        } else {
            operation.cancel()
        }
    }

    func setPaused(_ isPaused: Bool, of waiter: Int, _ key: Sharing) {
        let isChanged = shares.withLock { shares in
            let wasPaused = shares.coalescer.isPaused(key)
            shares.coalescer.setPaused(isPaused, of: waiter)
            return shares.coalescer.isPaused(key) != wasPaused
        }
        if isChanged { steer(key) }
    }

    /// Pauses or resumes a transfer, repeated until the transfer matches the latest state.
    private func steer(_ key: Sharing) {
        while true {
            let (operation, isPaused) = shares.withLock { shares in
                (shares.coalescer.transfer(of: key).flatMap { shares.operations[$0] }, shares.coalescer.isPaused(key))
            }
            guard let operation else { return }
            if isPaused { operation.pause() } else { operation.resume() }
            if shares.withLock({ $0.coalescer.isPaused(key) }) == isPaused { return }
        }
    }

    func setPriority(_ priority: Operation.QueuePriority, of waiter: Int) {
        let change = shares.withLock { shares -> (HTTPDataOperation<HTTPAnswer>?, Int)? in
            guard let (transfer, urgency) = shares.coalescer.setPriority(priority.rawValue, of: waiter) else {
                return nil
            }
            return (shares.operations[transfer], urgency)
        }
        if let (operation, urgency) = change { operation?.queuePriority = .init(rawValue: urgency) ?? .normal }
    }
}
