#if Fetch
import Dispatch
import Glibc
import Synchronization

/// A handler of signals that cancels a fetch at the first `SIGINT`, `SIGTERM` or `SIGHUP`, and ends the process at the
/// second.
final class FetchInterruption: Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    // The property is never read. It retains the sources, because a source stops when it is released.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]
    private let count = Atomic(0)

    /// Whether a signal has arrived.
    var hasHappened: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

    /// Starts to listen for signals. The object listens until it is released.
    init(cancel: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "opq.interruption")
        let signals = Self.signals.filter { !isIgnored($0) }
        sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (source, number) in zip(sources, signals) {
            // A dispatch source receives a signal only if its default action is off.
            signal(number, SIG_IGN)
            source.setEventHandler { [weak self] in
                guard let self else { return }
                let count = count.add(1, ordering: .sequentiallyConsistent).newValue
                if count == 1 { cancel() } else { _exit(130) }
            }
            source.activate()
        }
    }
}
#endif
