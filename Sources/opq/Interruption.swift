import Dispatch
import Glibc
import Synchronization

/// Cancels a run when the process is told to end.
///
/// The first `SIGINT`, `SIGTERM` or `SIGHUP` cancels, the second kills, and a third ends the process as if
/// nobody had listened.
final class Interruption: Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    // Not touched again: they are kept so that they go on listening.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]
    private let count = Mutex(0)

    /// Whether there was a signal.
    var hasHappened: Bool { count.withLock { $0 > 0 } }

    /// Listens for signals as long as the object lives.
    ///
    /// - Parameters:
    ///   - cancel: Called at the first signal.
    ///   - kill: Called at the second.
    init(cancel: @escaping @Sendable () -> Void, kill: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "opq.interruption")
        sources = Self.signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (source, number) in zip(sources, Self.signals) {
            // The source only sees what would otherwise be acted on; commands start with default actions.
            signal(number, SIG_IGN)
            source.setEventHandler { [weak self] in
                guard let self else { return }
                let count = count.withLock { count in
                    count += 1
                    return count
                }
                if count == 1 {
                    cancel()
                } else {
                    for number in Self.signals { signal(number, SIG_DFL) }
                    kill()
                }
            }
            source.activate()
        }
    }
}
