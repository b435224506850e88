import Foundation

/// A list that any thread appends to.
final class Log<Value: Sendable>: @unchecked Sendable {
    // Sendable: the list is reached under the lock only.
    private let lock = NSLock()
    private var list: [Value] = []

    var values: [Value] { lock.withLock { list } }

    func append(_ value: Value) { lock.withLock { list.append(value) } }
}
