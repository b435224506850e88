import Operations
import Synchronization
import TestSupport
import Testing

/// Rule L7: key paths of every kind of subclass mean the operation's own properties.
@Suite(.timeLimit(.minutes(5))) struct LifeKeyPathTests {
    /// Overrides the read-only property with a settable one that announces itself.
    private class Settable: Operation, @unchecked Sendable {
        private let finished = Guarded(false)
        let began = Gate()

        override func start() { began.open() }

        override var isFinished: Bool {
            get { finished.withLock { $0 } }
            set {
                willChangeValue(for: \.isFinished)
                finished.withLock { $0 = newValue }
                didChangeValue(for: \.isFinished)
            }
        }
    }

    private final class SettableSubclass: Settable, @unchecked Sendable {}

    private final class Generic<Value: Sendable>: Operation, @unchecked Sendable {
        private let value = Guarded<Value?>(nil)
        let began = Gate()

        override func start() { began.open() }
        override var isFinished: Bool { value.withLock { $0 != nil } }

        func finish(with newValue: Value) {
            willChangeValue(for: \.isFinished)
            value.withLock { $0 = newValue }
            didChangeValue(for: \.isFinished)
        }
    }

    private final class Quiet: Operation, @unchecked Sendable {
        let finished = Atomic(false)
        let began = Gate()
        override func start() { began.open() }
        override var isFinished: Bool { finished.load(ordering: .relaxed) }
    }

    private final class SubclassOfSpelling: SpellingOperation, @unchecked Sendable {
        override var isFinished: Bool { super.isFinished }
    }

    private func expectLeaves(_ operation: Operation, began: Gate, finish: () -> Void) {
        let queue = OperationQueue.serial()
        queue.addOperation(operation)
        began.pass()
        finish()
        operation.waitUntilFinished()
        #expect(queue.countNow == 0)
    }

    /// Rule L7.
    @Test func `a property overridden with a setter is announced by its key path`() {
        let operation = Settable()
        expectLeaves(operation, began: operation.began) { operation.isFinished = true }
        let subclass = SettableSubclass()
        expectLeaves(subclass, began: subclass.began) { subclass.isFinished = true }
    }

    /// Rule L7.
    @Test func `generic subclasses are announced by their key paths`() {
        let number = Generic<Int>()
        expectLeaves(number, began: number.began) { number.finish(with: 1) }
        let text = Generic<String>()
        expectLeaves(text, began: text.began) { text.finish(with: "") }
    }

    /// Rule L7.
    @Test func `a subclass of a subclass is announced by inherited code`() {
        let operation = SubclassOfSpelling(.keyPath)
        expectLeaves(operation, began: operation.began) { operation.finish() }
    }

    /// Rule L7.
    @Test func `an announcement from outside counts, under the class's own and under the base class's name`() {
        let own = Quiet()
        expectLeaves(own, began: own.began) {
            own.finished.store(true, ordering: .relaxed)
            own.didChangeValue(for: \.isFinished)
        }
        let base = Quiet()
        expectLeaves(base, began: base.began) {
            base.finished.store(true, ordering: .relaxed)
            (base as Operation).didChangeValue(for: \.isFinished)
        }
    }
}
