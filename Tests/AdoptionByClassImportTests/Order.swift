import Foundation

/// A list to which any thread may append.
final class Order: @unchecked Sendable {
    // Sendable: the list is used only under the lock.
    private let lock = NSLock()
    private var strings: [String] = []

    var list: [String] { lock.withLock { strings } }

    func append(_ string: String) { lock.withLock { strings.append(string) } }
}
