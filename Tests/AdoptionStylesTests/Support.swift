// Operations in the styles of existing code. The files of this target also compile against plain Foundation. `Scripts/styles`
// runs them there, with `PLAIN_FOUNDATION` defined.
#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// A list of events in order, which any thread may extend.
final class Log: @unchecked Sendable {
    // Sendable: the list is used only under the lock.
    private let lock = NSLock()
    private var list: [String] = []

    var entries: [String] { lock.withLock { list } }

    func append(_ entry: String) { lock.withLock { list.append(entry) } }
}

/// A value behind a lock.
final class Kept<Value>: @unchecked Sendable {
    // Sendable: the value is used only under the lock.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func callAsFunction() -> Value { lock.withLock { value } }

    func set(_ new: Value) { lock.withLock { value = new } }

    /// Replaces the value, and returns the old value.
    func exchange(_ new: Value) -> Value {
        lock.withLock {
            defer { value = new }
            return value
        }
    }
}
