import HTTPCore
import HTTPTypes

/// The key of a shared transfer: everything that is sent, and its treatment, not only the address.
///
/// A request that is added after a change has another key than a request that was added before. The hash is computed once,
/// because lookups happen under a lock.
final class CoalescingKey: Hashable, Sendable {
    private let request: HTTPRequestDescription
    /// The number of changes before the request.
    private let changes: Int
    /// Whether the request may share. A key that may not share equals only itself.
    private let isShared: Bool
    private let hash: Int

    init(_ request: HTTPRequestDescription, changes: Int, isShared: Bool) {
        self.request = request
        self.changes = changes
        self.isShared = isShared
        hash = isShared ? request.hashValue : 0
    }

    static func == (left: CoalescingKey, right: CoalescingKey) -> Bool {
        if left === right { return true }
        return left.hash == right.hash && left.isShared && right.isShared && left.changes == right.changes
            && left.request == right.request
    }

    func hash(into hasher: inout Hasher) {
        if isShared { hasher.combine(hash) } else { hasher.combine(ObjectIdentifier(self)) }
    }
}
