import NIOConcurrencyHelpers

/// A value behind a lock.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer does not see the slow path of that lock, and reports races on the value.
package struct Locked<Value>: @unchecked Sendable {
    // Sendable: the value is reached only inside `withLock`.
    private let box: NIOLockedValueBox<Value>

    package init(_ value: Value) { box = NIOLockedValueBox(value) }

    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result { box.withLockedValue(body) }
}
