/// An operation that calls one method on one object.
///
/// The operation retains the target and the argument until it is finished.
open class InvocationOperation: Operation, @unchecked Sendable {
    // Sendable: the state that changes is behind a lock.
    private let contents: Locked<Contents>

    private struct Contents {
        var invocation: Invocation
        let isVoid: Bool
        var outcome: Result<Any?, any Error>?
    }

    /// Creates an operation that performs an invocation.
    public init(invocation: Invocation) {
        contents = Locked(Contents(invocation: invocation, isVoid: invocation.method?.isVoid ?? false, outcome: nil))
        super.init()
    }

    deinit {
        Release.add(contents.exchange(Contents(invocation: contents.withLock { $0.invocation.spent }, isVoid: false)))
        Release.run(in: .current)
    }

    /// Creates an operation by selector; nil when the target does not declare the selector. See `SelectorResponding`.
    public convenience init?(target: Any, selector: Selector, object argument: Any? = nil) {
        guard let invocation = Invocation(target: target, selector: selector, object: argument) else { return nil }
        self.init(invocation: invocation)
    }

    /// Creates an operation for a method without parameters: `InvocationOperation(target: downloader, method:
    /// Downloader.fetchAll)`.
    public convenience init<Target: AnyObject, Value>(
        target: Target, method: @escaping @Sendable (Target) -> () throws -> Value
    ) {
        self.init(invocation: Invocation(target: target, method: method))
    }

    /// Creates an operation for a method with one parameter: `InvocationOperation(target: downloader, method:
    /// Downloader.fetch(from:), argument: url)`.
    public convenience init<Target: AnyObject, Argument, Value>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Value, argument: Argument
    ) {
        self.init(invocation: Invocation(target: target, method: method, argument: argument))
    }

    /// The invocation of the operation. It has no target and no argument when the operation is finished.
    open var invocation: Invocation { contents.withLock { $0.invocation } }

    /// The result of the method; nil until the operation is finished.
    ///
    /// - Throws: The error of the method. `InvocationOperationError` after a cancellation, and for a `Void` method that
    ///   has run.
    open var result: Any? {
        get throws {
            if isCancelled { throw InvocationOperationError.invocationOperationCancelled }
            let (outcome, isVoid) = contents.withLock { ($0.outcome, $0.isVoid) }
            guard isFinished, let outcome else { return nil }
            let value = try outcome.get()
            if isVoid { throw InvocationOperationError.invocationOperationVoidResult }
            return value
        }
    }

    /// Calls the method. An error of the method is kept for `result`, and is not thrown here. A second call does nothing.
    open override func main() {
        let invocation = invocation
        HeldLocks.assertNone()
        guard contents.withLock({ $0.outcome == nil }) else { return }
        let outcome = Result { try invocation.invoke() }
        contents.withLock { if $0.outcome == nil { $0.outcome = outcome } }
        discardWork()
    }

    override func discardWork() {
        let spent = contents.withLock { contents in
            let old = contents.invocation
            contents.invocation = old.spent
            return old
        }
        withExtendedLifetime(spent) {}
    }
}

/// The reason for which an invocation operation has no result.
public enum InvocationOperationError: Error, Equatable, Sendable {
    /// The operation was cancelled.
    case invocationOperationCancelled
    /// The method returns `Void`.
    case invocationOperationVoidResult
}

/// The name of the exception that Apple's systems raise for `invocationOperationVoidResult`.
public let NSInvocationOperationVoidResultException = "NSInvocationOperationVoidResultException"

/// The name of the exception that Apple's systems raise for `invocationOperationCancelled`.
public let NSInvocationOperationCancelledException = "NSInvocationOperationCancelledException"
