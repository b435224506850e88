import Operations
import TestSupport
import Testing

/// Rule K6 with several threads or several observers at the same time: the last announcement has the final value.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ObserveInterleavingTests {
    private final class Quiet: Operation, @unchecked Sendable {}

    /// The calls, before and after a change, of an observer that begins inside another observer's call before the change.
    private func calls(
        of change: () -> Void,
        observe: @escaping @Sendable (_ handler: @escaping @Sendable (_ isPrior: Bool) -> Void) -> NSKeyValueObservation
    ) -> [Bool] {
        let (late, calls) = (Guarded<[NSKeyValueObservation]>([]), Journal<Bool>())
        let early = observe { isPrior in
            guard isPrior, late.withLock({ $0.isEmpty }) else { return }
            let token = observe { calls.append($0) }
            late.withLock { $0 = [token] }
        }
        change()
        early.invalidate()
        late.withLock { $0 = [] }
        return calls.entries
    }

    @Test func `an observer that begins in the call before a change is called before and after that change`() {
        let (operation, queue) = (Quiet(), OperationQueue())
        let named = calls(of: { operation.name = "a" }) { handler in
            operation.observe(\.name, options: .prior) { handler($1.isPrior) }
        }
        let suspended = calls(of: { queue.isSuspended = true }) { handler in
            queue.observe(\.isSuspended, options: .prior) { handler($1.isPrior) }
        }
        #expect(named == [true, false] && suspended == [true, false])
    }

    @available(*, deprecated)
    @Test func `observers with the option prior get the number of operations before a change`() {
        let (queue, calls) = (OperationQueue(), Journal<Bool>())
        queue.isSuspended = true
        let token = queue.observe(\.operationCount, options: .prior) { calls.append($1.isPrior) }
        queue.addOperation(Quiet())
        #expect(calls.entries == [true, false])
        token.invalidate()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    private final class LoadQueue: OperationQueue, @unchecked Sendable {
        // Sendable: adds nothing that is stored.
        @available(*, deprecated) var load: Int { operationCount * 2 }

        @available(*, deprecated) override class var additionalKeyValueKeys: [KeyValueKey] {
            [KeyValueKey("load", \LoadQueue.load, affectedBy: ["operationCount"])]
        }
    }

    @available(*, deprecated)
    @Test func `a property that depends on the number of operations is announced with it`() {
        let (queue, log) = (LoadQueue(), Journal<Int>())
        queue.isSuspended = true
        let token = queue.observe(\.load, options: [.initial, .new]) { log.append($1.newValue!) }
        queue.addOperation(Quiet())
        #expect(log.entries == [0, 2])
        token.invalidate()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Its text depends on the name.
    private final class Labelled: Operation, @unchecked Sendable {
        // Sendable: the hook is guarded.
        let afterNextRead = Guarded<(@Sendable () -> Void)?>(nil)

        var text: String {
            let text = name ?? "-"
            afterNextRead.withLock { $0.take() }?()
            return text
        }

        override class var additionalKeyValueKeys: [KeyValueKey] {
            [KeyValueKey("text", \Labelled.text, affectedBy: ["name"])]
        }
    }

    @Test func `the last announcement of a property that depends on a concurrently set one has the final value`() {
        let (operation, log) = (Labelled(), Journal<String>())
        let token = operation.observe(\.text, options: [.initial, .new]) { log.append($1.newValue!) }
        operation.afterNextRead.withLock { hook in
            hook = { TestThread { operation.name = "b" }.join() }
        }
        operation.name = "a"
        #expect(operation.name == "b" && log.entries.last == "b")
        token.invalidate()
    }

    private final class Described: Operation, @unchecked Sendable {
        // Sendable: the hook is guarded.
        let afterNextRead = Guarded<(@Sendable () -> Void)?>(nil)

        var text: String {
            let text = "\(name ?? "-") \(isReady)"
            afterNextRead.withLock { $0.take() }?()
            return text
        }

        override class var additionalKeyValueKeys: [KeyValueKey] {
            [KeyValueKey("text", \Described.text, affectedBy: ["isReady", "name"])]
        }
    }

    @Test func `the last announcement of a property that depends on isReady and on a set one has the final value`() {
        let (operation, log) = (Described(), Journal<String>())
        let token = operation.observe(\.text, options: .new) { log.append($1.newValue!) }
        operation.afterNextRead.withLock { hook in
            hook = { TestThread { operation.name = "b" }.join() }
        }
        operation.willChangeValue(forKey: "isReady")
        operation.didChangeValue(forKey: "isReady")
        #expect(log.entries.last == "b true")
        token.invalidate()
    }

    @Test func `a property that depends on isReady has its old value`() {
        let (operation, dependency, log) = (Described(), BlockOperation {}, Journal<String>())
        operation.addDependency(dependency)
        let token = operation.observe(\.text, options: [.old, .new, .prior]) {
            log.append("\($1.oldValue!), \($1.newValue ?? "before")")
        }
        dependency.start()
        #expect(log.entries == ["- false, before", "- false, - true"])
        token.invalidate()
    }

    /// Final, so that its key path of `isReady` is not a known one. Then only the value shows a change.
    private final class Gated: Operation, @unchecked Sendable {
        // Sendable: the value and the hook are guarded.
        let isOpen = Guarded(true)
        let afterNextRead = Guarded<(@Sendable () -> Void)?>(nil)

        override var isReady: Bool {
            let isOpen = isOpen.withLock { $0 }
            afterNextRead.withLock { $0.take() }?()
            return isOpen && super.isReady
        }

        func open(_ isOpen: Bool) {
            willChangeValue(for: \.isReady)
            self.isOpen.withLock { $0 = isOpen }
            didChangeValue(for: \.isReady)
        }
    }

    @Test func `a change of isReady while another observer begins does not hide the next change`() {
        let (gated, log) = (Gated(), Journal<Bool>())
        let operation: Operation = gated
        let first = operation.observe(\.isReady, options: .new) { log.append($1.newValue!) }
        gated.afterNextRead.withLock { hook in
            hook = { TestThread { gated.open(false) }.join() }
        }
        let second = operation.observe(\.isReady) { _, _ in }
        gated.open(true)
        #expect(log.entries == [false, true])
        for token in [first, second] { token.invalidate() }
    }

    private final class AtEnd: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    @Test(arguments: [[], .new] as [NSKeyValueObservingOptions])
    func `an observer that ends during a change is released without the lock of its operation`(
        _ options: NSKeyValueObservingOptions
    ) {
        let (operation, log) = (Quiet(), Journal<String>())
        let (old, new) = (Guarded<NSKeyValueObservation?>(nil), Guarded<NSKeyValueObservation?>(nil))
        do {
            let end = AtEnd { [unowned operation] in log.append("released \(operation.name ?? "-")") }
            let token = operation.observe(\.name, options: options) { _, _ in withExtendedLifetime(end) {} }
            old.withLock { $0 = token }
        }
        let prior = operation.observe(\.name, options: .prior) { operation, change in
            guard change.isPrior else { return }
            old.withLock { $0.take() }?.invalidate()
            let token = operation.observe(\.name, options: .new) { _, _ in log.append("new") }
            new.withLock { $0 = token }
        }
        operation.name = "x"
        #expect(log.entries.sorted() == ["new", "released x"])
        new.withLock { $0.take() }?.invalidate()
        prior.invalidate()
    }

    @Test func `an observer that begins while two threads set a priority has the final value at the end`() {
        for _ in 0..<Stress.rounds(4000, least: 800) {
            let (operation, meeting, log) = (Quiet(), Gate(2), Journal<Operation.QueuePriority>())
            let other = TestThread {
                meeting.meet()
                operation.queuePriority = .high
            }
            meeting.meet()
            let token = operation.observe(\.queuePriority, options: [.initial, .new]) { log.append($1.newValue!) }
            operation.queuePriority = .low
            other.join()
            #expect(log.entries.last == operation.queuePriority)
            token.invalidate()
        }
    }

    @Test func `an observer that begins while a state flips gets no call after the change without one before`() {
        for _ in 0..<Stress.rounds(4000, least: 1000) {
            let (operation, meeting, calls) = (Quiet(), Gate(2), Journal<Bool>())
            let other = TestThread {
                meeting.meet()
                operation.start()
            }
            meeting.meet()
            let token = operation.observe(\.isFinished, options: .prior) { calls.append($1.isPrior) }
            other.join()
            #expect(calls.entries != [false])
            token.invalidate()
        }
    }

    @Test func `a key path to an operation does not change the values for observers of its state`() {
        final class Holder: KeyValueObservable {
            let keyValueRegistrar = KeyValueRegistrar()
            @KeyValueObserved var operation = Operation()
            static var keyValueKeys: [KeyValueKey] { [KeyValueKey("operation", \Holder.operation)] }
        }
        let (holder, log) = (Holder(), Journal<Bool?>())
        let path = holder.observe(\.operation.isFinished, options: .new) { _, _ in }
        let token = holder.operation.observe(\.isFinished, options: .new) { log.append($1.newValue) }
        holder.operation.start()
        #expect(log.entries == [true])
        path.invalidate()
        token.invalidate()
    }

    /// Pauses, and is resumed by the first reader that sees that it does not execute.
    private final class Stander: AsyncOperation, @unchecked Sendable {
        // Sendable: everything is guarded.
        let afterRead = Guarded<(@Sendable () -> Void)?>(nil)
        let mayEnd = AsyncGate()

        override var isExecuting: Bool {
            let isExecuting = super.isExecuting
            if !isExecuting { afterRead.withLock { $0.take() }?() }
            return isExecuting
        }

        override func run() async throws {
            pause()
            await waitWhilePaused()
            await mayEnd.pass()
        }
    }

    @Test func `the last announcement of an operation that pauses and resumes at once is that it executes`() async {
        let (operation, log, continued) = (Stander(), Journal<Bool>(), Gate(3))
        let token = (operation as Operation).observe(\.isExecuting, options: [.initial, .new]) {
            log.append($1.newValue!)
            continued.open()
        }
        // Set when it executes: the next reader that sees false is the thread that announces the pause.
        let begun = (operation as Operation).observe(\.isExecuting, options: .new) { [log] _, change in
            guard change.newValue!, log.entries.count == 2 else { return }
            operation.afterRead.withLock { hook in
                hook = {
                    operation.resume()
                    continued.pass()
                }
            }
        }
        let queue = OperationQueue()
        queue.addOperation(operation)
        while log.entries.count < 4 { await Task.yield() }
        #expect(operation.isExecuting && log.entries.last == true)
        operation.mayEnd.open()
        await operation.waitUntilFinished()
        token.invalidate()
        begun.invalidate()
    }
}
