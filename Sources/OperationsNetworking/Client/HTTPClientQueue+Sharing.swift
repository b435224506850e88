#if Networking
import HTTPCore
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response and its body, before anybody has decoded it.
struct HTTPAnswer: Sendable {
    let body: Data
    let response: HTTPResponse
    let url: String
}

extension HTTPSerializer where Value == HTTPAnswer {
    /// Whatever the status: those who share a transfer each have their own opinion of it.
    static func answer(url: String) -> Self {
        Self(acceptableStatuses: nil) { body, response in HTTPAnswer(body: body, response: response, url: url) }
    }
}

/// What makes two requests the same: all that is sent, and how it is treated; not the address alone.
struct Sharing: Hashable {
    let request: HTTPOperationRequest
    /// Of its own for what shares with nobody.
    let number: Int?
}

/// One of those who wait for a transfer.
final class Wish: Sendable {
    let operation: AnyHTTPOperation
    private let shared: HTTPOperation<HTTPAnswer>
    private let client: HTTPClientQueue
    private let waiter: Int
    private let state: Locked<State>

    private struct State {
        var priority: Operation.QueuePriority
        var isCancelled = false
        /// Tasks that await the answer.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    init(
        _ operation: HTTPOperation<HTTPAnswer>, waiter: Int, client: HTTPClientQueue,
        _ priority: Operation.QueuePriority
    ) {
        self.operation = operation
        shared = operation
        self.client = client
        self.waiter = waiter
        state = Locked(State(priority: priority))
    }

    var answer: HTTPAnswer {
        get async throws {
            let url = HTTPAddress.redacted(operation.request.url)
            let number = state.withLock { $0.nextNumber() }
            // Waiting for the end is not cancelled, so another task does it.
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
                // This task alone: others may await the same.
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
            if Task.isCancelled || state.withLock({ $0.isCancelled }) { throw HTTPError(.cancelled, url: url) }
            _ = await ended.value
            return try await shared.value
        }
    }

    var priority: Operation.QueuePriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            client.setPriority(newValue, of: waiter)
        }
    }

    func cancel() {
        let isMine = state.withLock { state in
            guard !state.isCancelled, !shared.isFinished else { return false }
            state.isCancelled = true
            return true
        }
        guard isMine else { return }
        client.leave(waiter)
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
    func join(_ request: HTTPOperationRequest, _ priority: Operation.QueuePriority) -> Wish {
        let mayShare = request.method.isSafe && request.body == .none
        // Made before the lock is taken, and thrown away if somebody is under way already.
        let new = HTTPOperation(
            request, as: .answer(url: HTTPAddress.redacted(request.url)), session: session)
        // Before somebody can join it, and raise it.
        new.queuePriority = priority
        var cancelled: HTTPOperation<HTTPAnswer>?
        defer { withExtendedLifetime(cancelled) {} }
        let (waiter, joining, operation, key) = shares.withLock { shares in
            let key = Sharing(request: request, number: mayShare ? nil : shares.nextNumber())
            // Cancelled by somebody else than those who wait for it, such as `cancelAll()`, and not over yet.
            if let transfer = shares.coalescer.transfer(of: key), shares.operations[transfer]?.isCancelled == true {
                shares.coalescer.ended(transfer, of: key)
                cancelled = shares.operations.removeValue(forKey: transfer)
            }
            let (waiter, joining) = shares.coalescer.join(key, priority: priority.rawValue)
            switch joining {
            case .begin(let transfer):
                shares.operations[transfer] = new
                return (waiter, joining, new, key)
            case .joined(let transfer, _):
                return (waiter, joining, shares.operations[transfer].unsafelyUnwrapped, key)
            }
        }
        switch joining {
        case .begin(let transfer):
            new.transfer.follow { [weak self] kind, _ in
                if case .finished = kind { self?.ended(transfer, of: key) }
            }
            add(new)
        case .joined(_, let raised?): operation.queuePriority = .init(rawValue: raised) ?? priority
        case .joined: break
        }
        return Wish(operation, waiter: waiter, client: self, priority)
    }

    private func ended(_ transfer: Int, of key: Sharing) {
        let old = shares.withLock { shares in
            shares.coalescer.ended(transfer, of: key)
            return shares.operations.removeValue(forKey: transfer)
        }
        withExtendedLifetime(old) {}
    }

    func leave(_ waiter: Int) {
        let leaving = shares.withLock { shares -> (HTTPOperation<HTTPAnswer>?, urgency: Int?) in
            switch shares.coalescer.leave(waiter) {
            case .needless: (nil, nil)
            case .goesOn(let transfer, let urgency): (shares.operations[transfer], urgency)
            case .stop(let transfer): (shares.operations.removeValue(forKey: transfer), nil)
            }
        }
        guard let operation = leaving.0 else { return }
        if let urgency = leaving.urgency {
            operation.queuePriority = .init(rawValue: urgency) ?? .normal
        } else {
            operation.cancel()
        }
    }

    func setPriority(_ priority: Operation.QueuePriority, of waiter: Int) {
        let change = shares.withLock { shares -> (HTTPOperation<HTTPAnswer>?, Int)? in
            guard let (transfer, urgency) = shares.coalescer.setPriority(priority.rawValue, of: waiter) else {
                return nil
            }
            return (shares.operations[transfer], urgency)
        }
        if let (operation, urgency) = change { operation?.queuePriority = .init(rawValue: urgency) ?? .normal }
    }
}
#endif
