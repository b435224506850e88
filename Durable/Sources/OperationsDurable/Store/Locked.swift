import Foundation

/// A value behind a lock.
///
/// ThreadSanitizer does not see the slow path of `Synchronization.Mutex`, and reports races on its value. It sees `NSLock`.
///
/// The body calls no code of the application, and takes no second lock.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable: the value is accessed only inside `withLock`.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
