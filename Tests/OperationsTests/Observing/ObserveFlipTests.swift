import KeyValueObserving
import Operations
import Synchronization
import TestSupport
import Testing

/// Rule K6: each change is announced once. One thread may announce by a key path that no class has registered, while the
/// system changes a state.
@Suite(.timeLimit(.minutes(5))) struct ObserveFlipTests {
    /// Its own key paths equal no registered ones, because the class is final.
    final class Final: Operation, @unchecked Sendable {
        // Sendable: atomic.
        private let hasEnded = Atomic<Bool>(false)
        let whileRunning: @Sendable (Final) -> Void

        init(whileRunning: @escaping @Sendable (Final) -> Void = { _ in }) { self.whileRunning = whileRunning }

        override var isReady: Bool { super.isReady }
        override var isFinished: Bool { hasEnded.load(ordering: .acquiring) || super.isFinished }
        override func main() { whileRunning(self) }

        func end() { hasEnded.store(true, ordering: .releasing) }
    }

    /// The number of calls of all kinds of observers: with values or calls before a change, and without.
    private func notified<Value>(
        _ path: any KeyPath<Operation, Value> & Sendable, of operation: Operation,
        _ options: NSKeyValueObservingOptions,
        while body: () -> Void
    ) -> Int {
        let log = Journal<Void>()
        let token = operation.observe(path, options: options) { _, change in
            if !change.isPrior { log.append(()) }
        }
        body()
        token.invalidate()
        return log.entries.count
    }

    /// The same while a key path is announced that no class has registered.
    private func notifiedWithinAnnouncement<Value>(
        _ path: any KeyPath<Operation, Value> & Sendable, of operation: Final, _ options: NSKeyValueObservingOptions,
        while body: () -> Void
    ) -> Int {
        notified(path, of: operation, options) {
            operation.willChangeValue(for: \Final.isReady)
            body()
            operation.didChangeValue(for: \Final.isReady)
        }
    }

    static let kinds: [NSKeyValueObservingOptions] = [[], [.new], [.old, .new], [.prior]]

    @Test(arguments: kinds)
    func `an operation that ends within another announcement announces its end once`(
        options: NSKeyValueObservingOptions
    ) {
        let operation = Final()
        let count = notifiedWithinAnnouncement(\.isFinished, of: operation, options) { operation.start() }
        #expect(count == 1)
    }

    @Test(arguments: kinds)
    func `an operation that starts within another announcement announces its start once`(
        options: NSKeyValueObservingOptions
    ) {
        let operation = Final { $0.didChangeValue(for: \Final.isReady) }
        let count = notified(\.isExecuting, of: operation, options) {
            operation.willChangeValue(for: \Final.isReady)
            operation.start()
        }
        // Once for the start, and once for the end.
        #expect(count == 2)
    }

    @Test(arguments: kinds)
    func `an operation that is cancelled within another announcement announces its cancellation once`(
        options: NSKeyValueObservingOptions
    ) {
        let operation = Final()
        let count = notifiedWithinAnnouncement(\.isCancelled, of: operation, options) { operation.cancel() }
        #expect(count == 1)
    }

    @Test(arguments: kinds)
    func `two threads that announce one change by key paths of a final class notify once`(
        options: NSKeyValueObservingOptions
    ) {
        let operation = Final()
        let (begun, changed) = (Gate(), Gate())
        let other = TestThread {
            operation.willChangeValue(for: \Final.isReady)
            begun.open()
            changed.pass()
            operation.didChangeValue(for: \Final.isReady)
        }
        begun.pass()
        let count = notified(\.isFinished, of: operation, options) {
            operation.willChangeValue(for: \Final.isFinished)
            operation.end()
            changed.open()
            other.join()
            operation.didChangeValue(for: \Final.isFinished)
        }
        #expect(count == 1)
    }

    @Test(arguments: kinds)
    func `a state that flips repeatedly is announced each time`(options: NSKeyValueObservingOptions) {
        let operation = Final { operation in
            operation.willChangeValue(for: \Final.isReady)
            operation.didChangeValue(for: \Final.isReady)
        }
        operation.willChangeValue(for: \Final.isReady)
        operation.didChangeValue(for: \Final.isReady)
        let count = notified(\.isExecuting, of: operation, options) { operation.start() }
        #expect(count == 2)
    }

    /// A state, its name, and the event by which the system changes it.
    struct State: Sendable, CustomTestStringConvertible {
        let name: String
        let path: any KeyPath<Operation, Bool> & Sendable
        let change: @Sendable (Operation) -> Void
        let news: [Bool]
        var testDescription: String { name }
    }

    static let states = [
        State(name: "isExecuting", path: \.isExecuting, change: { $0.start() }, news: [false, true, false]),
        State(name: "isFinished", path: \.isFinished, change: { $0.start() }, news: [false, true]),
        State(name: "isCancelled", path: \.isCancelled, change: { $0.cancel() }, news: [false, true]),
    ]

    @Test(arguments: states, [false, true])
    func `the system announces its own change although another thread announces the state by hand in between`(
        state: State, isByName: Bool
    ) {
        let (operation, log, isFirst) = (Operation(), Journal<Bool>(), Guarded(true))
        let prior = operation.observe(state.path, options: .prior) { operation, change in
            guard change.isPrior, isFirst.withLock({ $0.take() }) else { return }
            TestThread {
                if isByName {
                    operation.willChangeValue(forKey: state.name)
                    operation.didChangeValue(forKey: state.name)
                } else {
                    let path: KeyPath<Operation, Bool> = state.path
                    operation.willChangeValue(for: path)
                    operation.didChangeValue(for: path)
                }
            }.join()
        }
        let token = operation.observe(state.path, options: .new) { log.append($1.newValue!) }
        state.change(operation)
        #expect(log.entries == state.news)
        for token in [prior, token] { token.invalidate() }
    }
}

extension Bool {
    /// Its value; false from then on.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
