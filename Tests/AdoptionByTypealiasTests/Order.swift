import Foundation

/// A list that any thread appends to.
final class Order: @unchecked Sendable {
    // Sendable: the list is reached under the lock only.
    private let lock = NSLock()
    private var strings: [String] = []

    var list: [String] { lock.withLock { strings } }

    func append(_ string: String) { lock.withLock { strings.append(string) } }
}
