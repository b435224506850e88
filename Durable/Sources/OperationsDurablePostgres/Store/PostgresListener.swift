#if Postgres
import Dispatch
import DurableCore
import OperationsDurable

/// The connection that receives notices of other processes, while tasks of this process wait.
///
/// A slow poll stands in for notices that do not arrive.
final class PostgresListener: @unchecked Sendable {
    // Sendable: `queue` guards all mutable fields.

    private let session: PostgresSession
    private let sender: UInt64
    private let interval: Duration
    private weak let notices: StoreNotices?
    private let queue = DispatchQueue(label: "swift-operations-durable.postgres.listen")
    private var isActive = false
    private var source: (any DispatchSourceRead)?
    private var poll: (any DispatchSourceTimer)?
    private var retryDelay = PostgresListener.firstDelay

    private static let firstDelay = 20
    private static let longestDelay = 1_000

    /// - Parameters:
    ///   - session: A session that only the listener uses.
    ///   - sender: The number of the store, whose own notices the listener ignores.
    ///   - interval: The time between two polls.
    init(_ session: PostgresSession, sender: UInt64, interval: Duration, notices: StoreNotices) {
        (self.session, self.sender, self.interval, self.notices) = (session, sender, interval, notices)
    }

    func setActive(_ isActive: Bool) {
        queue.async {
            guard self.isActive != isActive else { return }
            self.isActive = isActive
            if isActive { self.start() } else { self.stop() }
        }
    }

    private func start() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let period = DispatchTimeInterval.microseconds(Int(clamping: interval.microseconds))
        timer.schedule(deadline: .now() + period, repeating: period, leeway: .milliseconds(10))
        timer.setEventHandler { [weak notices] in notices?.publishUnknownChange() }
        timer.activate()
        poll = timer
        connect()
    }

    private func stop() {
        poll?.cancel()
        poll = nil
        disconnect()
    }

    private func connect() {
        guard isActive, source == nil else { return }
        do {
            let connection = try session.open()
            try connection.execute("LISTEN durable_change")
            let source = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
            source.setEventHandler { [weak self] in self?.receive() }
            self.source = source
            source.activate()
            retryDelay = Self.firstDelay
            // A change may precede the subscription.
            notices?.publishUnknownChange()
        } catch {
            disconnect()
            retry()
        }
    }

    private func retry() {
        let delay = retryDelay
        retryDelay = min(2 * delay, Self.longestDelay)
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.connect() }
    }

    private func disconnect() {
        // The source must not outlive the descriptor: its cancellation closes the connection.
        nonisolated(unsafe) let connection = session.take()
        source?.setCancelHandler { withExtendedLifetime(connection) {} }
        source?.cancel()
        source = nil
    }

    private func receive() {
        guard source != nil else { return }
        do {
            let connection = try session.open()
            for (_, payload) in try connection.notifications() {
                guard let notice = PostgresNotice(text: payload), notice.schema == connection.lockKey,
                    notice.sender != sender
                else { continue }
                if notice.isIncomplete { notices?.publishUnknownChange() } else { notices?.publish(notice.effects) }
            }
        } catch {
            disconnect()
            retry()
        }
    }
}
#endif
