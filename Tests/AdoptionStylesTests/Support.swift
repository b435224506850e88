// Operations in the styles that ported code is written in. The files of this target compile against plain Foundation too:
// `Scripts/styles` runs them there, with `PLAIN_FOUNDATION` defined.
#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// What happened, in order, from any thread.
final class Log: @unchecked Sendable {
    // Sendable: the list is reached under the lock only.
    private let lock = NSLock()
    private var list: [String] = []

    var entries: [String] { lock.withLock { list } }

    func append(_ entry: String) { lock.withLock { list.append(entry) } }
}

/// A value behind a lock.
final class Kept<Value>: @unchecked Sendable {
    // Sendable: the value is reached under the lock only.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func callAsFunction() -> Value { lock.withLock { value } }

    func set(_ new: Value) { lock.withLock { value = new } }

    /// Exchanges the value; answers the old one.
    func exchange(_ new: Value) -> Value {
        lock.withLock {
            defer { value = new }
            return value
        }
    }
}
