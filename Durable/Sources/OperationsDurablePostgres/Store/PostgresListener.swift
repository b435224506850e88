#if Postgres
import DurableCore
import Foundation
import OperationsDurable

/// The connection that receives notices of other processes, while tasks of this process wait.
///
/// A thread owns the connection, and ends some time after the last wait of a task. A slow poll stands in for notices that do not arrive.
final class PostgresListener: Sendable {
    private struct State {
        var isActive = false
        var isClosed = false
        var hasThread = false
        /// The end of the last use.
        var idleSince = ContinuousClock.now

        /// Returns the time for which the thread keeps the connection; nil if no task waits, and the time has passed.
        var rest: Duration? {
            if isClosed { return nil }
            if isActive { return .seconds(86_400) }
            let rest = PostgresListener.grace - (ContinuousClock.now - idleSince)
            return rest > .zero ? rest : nil
        }
    }

    private let session: PostgresSession
    private let sender: UInt64
    private let interval: Duration
    private let notices: WeakNotices
    private let state = Locked(State())
    private let bell: Bell

    /// The time after the last use for which the connection stays open. A program that waits for one operation after another
    /// would otherwise connect for each of them.
    fileprivate static let grace = Duration.seconds(10)

    /// The longest time between two attempts to connect, in milliseconds.
    private static let longestDelay: Int32 = 1_000

    /// - Parameters:
    ///   - session: A session that only the listener uses.
    ///   - sender: The number of the store, whose own notices the listener ignores.
    ///   - interval: The time between two polls.
    /// - Throws: `DurableError.unavailable` if the process has no free file descriptors.
    init(_ session: PostgresSession, sender: UInt64, interval: Duration, notices: StoreNotices) throws {
        (self.session, self.sender, self.interval) = (session, sender, interval)
        self.notices = WeakNotices(notices)
        bell = try Bell()
    }

    func setActive(_ isActive: Bool) {
        let mustStart = state.withLock { state in
            if state.isActive, !isActive { state.idleSince = .now }
            state.isActive = isActive
            defer { state.hasThread = state.hasThread || isActive }
            return isActive && !state.hasThread
        }
        if mustStart { Thread.detachNewThread { self.listen() } } else { bell.ring() }
    }

    /// Closes the connection.
    func close() {
        state.withLock { ($0.isActive, $0.isClosed) = (false, true) }
        bell.ring()
    }

    private func listen() {
        var isConnected = false
        var delay: Int32 = 20
        let pause = Int32(clamping: max(1, interval.microseconds / 1_000))
        while true {
            // The next thread may use the session as soon as `hasThread` is false.
            let (rest, old) = state.withLock { state -> (Duration?, Handover) in
                if let rest = state.rest { return (rest, Handover(connection: nil)) }
                state.hasThread = false
                return (nil, Handover(connection: session.take()))
            }
            guard let rest else { return withExtendedLifetime(old) {} }
            do {
                if !isConnected {
                    try session.open().execute("LISTEN durable_change")
                    (isConnected, delay) = (true, 20)
                    // A change may precede the subscription.
                    notices.value?.publishUnknownChange()
                }
                let time = min(pause, Int32(clamping: rest.microseconds / 1_000 + 1))
                switch bell.wait(for: try session.open().socket, milliseconds: time) {
                case .data: try receive()
                case .timeout:
                    notices.value?.publishUnknownChange()
                    // A server whose processes stand still keeps the connection, and never sends a notice again.
                    try session.open().run(.now)
                case .bell: break
                }
            } catch {
                _ = session.take()
                isConnected = false
                _ = bell.wait(for: -1, milliseconds: delay)
                delay = min(2 * delay, Self.longestDelay)
            }
        }
    }

    private func receive() throws {
        let connection = try session.open()
        for payload in try connection.notifications() {
            guard let notice = PostgresNotice(text: payload), notice.schema == connection.lockKey,
                notice.sender != sender
            else { continue }
            if notice.isIncomplete {
                notices.value?.publishUnknownChange()
            } else {
                notices.value?.publish(notice.effects)
            }
        }
    }
}

/// A connection that leaves the lock of the listener, to be closed outside.
private struct Handover: @unchecked Sendable {
    // Sendable: the value has one owner.
    let connection: PostgresConnection?
}

/// A reference that does not keep the notices alive.
private final class WeakNotices: @unchecked Sendable {
    // Sendable: the weak reference is written once, in the initializer.
    private(set) weak var value: StoreNotices?

    init(_ value: StoreNotices) { self.value = value }
}

/// A pipe by which any thread interrupts the wait of one thread.
private final class Bell: Sendable {
    enum Event {
        case data, timeout, bell
    }

    private let (reading, writing): (Int32, Int32)

    init() throws {
        var descriptors: [Int32] = [0, 0]
        guard pipe(&descriptors) == 0 else { throw DurableError.unavailable("the process has too many open files") }
        for descriptor in descriptors {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (descriptors[0], descriptors[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func ring() {
        // A full pipe rings already.
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// Waits for data on the socket, for a ring, or until the time has passed.
    ///
    /// - Parameter socket: The descriptor; -1 for none.
    func wait(for socket: Int32, milliseconds: Int32) -> Event {
        var entries = [
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&entries, 2, milliseconds) > 0 else { return .timeout }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reading, &bytes, bytes.count) > 0 {}
        }
        return entries[1].revents != 0 ? .data : .bell
    }
}
#endif
