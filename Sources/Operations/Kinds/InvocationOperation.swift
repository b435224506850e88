/// Calls one method on one object (rules I1–I6).
///
/// Target and argument are retained until the operation is finished.
open class InvocationOperation: Operation, @unchecked Sendable {
    // Sendable: what changes is behind a lock.
    private let contents: Locked<Contents>

    private struct Contents {
        var invocation: Invocation
        let isVoid: Bool
        var outcome: Result<Any?, any Error>?
    }

    /// Calls what an invocation holds.
    public init(invocation: Invocation) {
        contents = Locked(Contents(invocation: invocation, isVoid: invocation.method?.isVoid ?? false, outcome: nil))
        super.init()
    }

    /// nil when the target does not declare the selector; see `SelectorResponding` (rule I2).
    public convenience init?(target: Any, selector: Selector, object argument: Any? = nil) {
        guard let invocation = Invocation(target: target, selector: selector, object: argument) else { return nil }
        self.init(invocation: invocation)
    }

    /// `InvocationOperation(target: downloader, method: Downloader.fetchAll)` (rule I3).
    public convenience init<Target: AnyObject, Value>(
        target: Target, method: @escaping @Sendable (Target) -> () throws -> Value
    ) {
        self.init(invocation: Invocation(target: target, method: method))
    }

    /// `InvocationOperation(target: downloader, method: Downloader.fetch(from:), argument: url)` (rule I3).
    public convenience init<Target: AnyObject, Argument, Value>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Value, argument: Argument
    ) {
        self.init(invocation: Invocation(target: target, method: method, argument: argument))
    }

    /// What it calls. Once finished, target and argument are gone from it.
    open var invocation: Invocation { contents.withLock { $0.invocation } }

    /// What the method returned; nil until the operation is finished (rule I5).
    ///
    /// - Throws: `InvocationOperationError` after a cancellation and for a Void method that has run; or what the method
    ///   threw.
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

    /// Calls the method. What it throws is kept for `result` and goes no further.
    open override func main() {
        let invocation = invocation
        HeldLocks.assertNone()
        let outcome = Result { try invocation.invoke() }
        contents.withLock { $0.outcome = outcome }
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

/// Why an invocation operation has no result.
public enum InvocationOperationError: Error, Equatable, Sendable {
    /// The operation was cancelled.
    case invocationOperationCancelled
    /// The method returns nothing.
    case invocationOperationVoidResult
}

/// The name under which Apple's systems raise `invocationOperationVoidResult` (rule I6).
public let NSInvocationOperationVoidResultException = "NSInvocationOperationVoidResultException"

/// The name under which Apple's systems raise `invocationOperationCancelled` (rule I6).
public let NSInvocationOperationCancelledException = "NSInvocationOperationCancelledException"
