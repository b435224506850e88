#if Networking
import HTTPCore
public import Operations

/// Requests that belong together: one progress, by number and by bytes, and one completion, after every member's own
/// (rule N3). Made by `HTTPClientQueue.batch`, which also starts it.
///
/// It is an operation, so that others can depend on it, and have completion blocks, observers and waiters of the usual
/// kinds. But it is no `GroupOperation`: its members run in the client's queue, among all other requests, where the widths
/// hold; and they may share transfers with others, who are not its children. It waits for them in a queue of its own, so
/// that it takes no slot from them. When it has finished, so has every member.
///
/// It fails, as an operation, with the failure that made it cancel the rest; it never fails when it was told to go on.
/// What became of each member say the ``results``. Safe on any thread.
public final class HTTPBatch<Value: Sendable>: AsyncOperation, @unchecked Sendable {
    // Sendable: what changes is guarded.
    private let client: HTTPClientQueue
    private let members: [HTTPBatchMember<Value>]
    private let measuresFirst: Bool
    let tally: Locked<BatchTally>
    private let steering = Locked(Steering())
    let followers = Broadcast<BatchProgress>()
    // Written by the operation's task, of which there is one; read when its end was seen.
    nonisolated(unsafe) private var collected: [Result<Value, any Error>] = []

    private struct Steering {
        /// `run()` has been called.
        var hasBegun = false
        /// Nothing more is to begin: it was cancelled, or has failed.
        var isOver = false
        var failure: (any Error)?
        var isPaused = false
        var running: [Int: any Steerable] = [:]
        var last = 0
        /// What would begin members, if it were not paused.
        var waiting: CheckedContinuation<Void, Never>?
    }

    init(
        _ members: [HTTPBatchMember<Value>], client: HTTPClientQueue, measuresFirst: Bool,
        onFailure: HTTPBatchFailurePolicy
    ) {
        self.client = client
        self.members = members
        self.measuresFirst = measuresFirst
        tally = Locked(BatchTally(count: members.count, stopsAtFailure: onFailure == .cancelsTheRest))
        super.init()
    }

    /// What became of each member, in their order, when all have ended. Cancelling the task that waits changes nothing.
    ///
    /// Failures are `HTTPError`, also of members that were cancelled, or never begun because the batch was; or what a policy
    /// of the toolkit says.
    public var results: [Result<Value, any Error>] {
        get async {
            // What became of the batch is said by what became of its members.
            do { try await waitForEnd() } catch { return members.map { _ in .failure(error) } }
            return collected
        }
    }

    /// The values in the members' order.
    ///
    /// - Throws: The first failure in that order, but what failed before what was cancelled because of it.
    public var values: [Value] {
        get async throws {
            let results = await results
            let failures = results.compactMap { result -> (any Error)? in
                if case .failure(let error) = result { error } else { nil }
            }
            if let failure = failures.first(where: { !HTTPError.isCancellation($0) }) ?? failures.first {
                throw failure
            }
            return try results.map { try $0.get() }
        }
    }

    // MARK: - Steering

    /// Cancels every member that has not ended; of a transfer that others share, the batch's own wish alone. The batch
    /// finishes when they have.
    public override func cancel() {
        let hasBegun = steering.withLock { steering in
            steering.isOver = true
            return steering.hasBegun
        }
        // Before that it could end without having run, and its members without having ended. `run()` makes up for it.
        if hasBegun { super.cancel() }
        stopMembers()
    }

    /// Pauses every member, and begins none. Transfers that others share go on, as long as one of the others does not pause
    /// his wish.
    public func pause() { setPaused(true) }

    /// Lets every member go on.
    public func resume() {
        setPaused(false)
        steering.withLock { $0.waiting.take() }?.resume()
    }

    private func setPaused(_ isPaused: Bool) {
        let running = steering.withLock { steering in
            steering.isPaused = isPaused
            return steering.running
        }
        for member in running.values { steer(member) }
    }

    /// Pauses or resumes, whoever says the last word.
    private func steer(_ member: any Steerable) {
        while true {
            let isPaused = steering.withLock { $0.isPaused }
            if isPaused { member.pause() } else { member.resume() }
            if steering.withLock({ $0.isPaused }) == isPaused { return }
        }
    }

    private func stopMembers() {
        let (running, waiting) = steering.withLock { ($0.running, $0.waiting.take()) }
        waiting?.resume()
        for member in running.values { member.cancel() }
    }

    // MARK: - The work

    public override func run() async throws {
        let isOver = steering.withLock { steering in
            steering.hasBegun = true
            return steering.isOver
        }
        if isOver { super.cancel() }
        if measuresFirst { await measure() }
        await untilResumed()
        collected = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            for (index, member) in members.enumerated() {
                let running = begin(member)
                group.addTask { (index, await self.result(of: running, index)) }
            }
            var results = members.map { Result<Value, any Error>.failure(Self.cancellation(of: $0)) }
            for await (index, result) in group { results[index] = result }
            return results
        }
        tell()
        followers.finish()
        if let failure = steering.withLock({ $0.failure }) { throw failure }
    }

    /// nil: it is too late.
    private func begin(_ member: HTTPBatchMember<Value>) -> HTTPBatchMember<Value>.Running? {
        guard !steering.withLock({ $0.isOver }) else { return nil }
        let running = member.begin(client)
        enter(running.steering)
        return running
    }

    /// Whoever wants to stop it from now on finds it; who wanted so before has not.
    @discardableResult
    private func enter(_ member: any Steerable) -> Int {
        let (number, isOver, isPaused) = steering.withLock { steering in
            steering.last += 1
            steering.running[steering.last] = member
            return (steering.last, steering.isOver, steering.isPaused)
        }
        if isOver { member.cancel() } else if isPaused { steer(member) }
        return number
    }

    private func result(
        of running: HTTPBatchMember<Value>.Running?, _ index: Int
    ) async -> Result<Value, any Error> {
        guard let running else {
            note { $0.ended(index, received: 0, .cancelled) }
            return .failure(Self.cancellation(of: members[index]))
        }
        let following = Task {
            for await progress in running.operation.transferProgressUpdates {
                if tally.withLock({ $0.moved(index, received: progress.received, expected: progress.expected) }) {
                    tell()
                }
            }
        }
        let result: Result<Value, any Error>
        do { result = .success(try await running.value()) } catch { result = .failure(error) }
        following.cancel()
        await following.value
        let received = running.operation.transferProgress.received
        switch result {
        case .success: note { $0.ended(index, received: received, .succeeded) }
        case .failure(let error):
            let isCancelled = HTTPError.isCancellation(error)
            note(error) { $0.ended(index, received: received, isCancelled ? .cancelled : .failed) }
        }
        return result
    }

    /// - Parameter body: Answers whether the rest is to be cancelled.
    private func note(_ failure: (any Error)? = nil, _ body: (inout BatchTally) -> Bool) {
        let stops = tally.withLock { body(&$0) }
        if stops {
            steering.withLock { ($0.isOver, $0.failure) = (true, failure) }
            stopMembers()
        }
        tell()
    }

    private func untilResumed() async {
        await withCheckedContinuation { continuation in
            let goesOn = steering.withLock { steering in
                if steering.isPaused, !steering.isOver {
                    steering.waiting = continuation
                    return false
                }
                return true
            }
            if goesOn { continuation.resume() }
        }
    }

    private static func cancellation(of member: HTTPBatchMember<Value>) -> HTTPError {
        HTTPError(.cancelled, url: member.url)
    }

    // MARK: - Measuring

    /// Asks how long the bodies will be. Who does not say is asked no more.
    private func measure() async {
        await withTaskGroup { group in
            for (index, member) in members.enumerated() {
                guard !steering.withLock({ $0.isOver }), let request = member.measure(client) else { continue }
                let wish = client.join(request, .normal)
                let number = enter(wish)
                group.addTask {
                    let length = try? await wish.answer.lengthOfBody
                    // The task may have been cancelled, and with it the waiting alone: before the batch has come to cancel
                    // the wish, which from here on it does not find.
                    wish.cancel()
                    self.leave(number)
                    if self.tally.withLock({ $0.measured(index, length) }) { self.tell() }
                }
            }
        }
    }

    private func leave(_ number: Int) {
        let old = steering.withLock { $0.running.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
    }
}
#endif
