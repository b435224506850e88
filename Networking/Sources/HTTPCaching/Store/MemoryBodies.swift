package import Foundation
import HTTPCore

/// The recently used bodies in memory, by digest, within a limit in bytes.
package struct MemoryBodies {
    private struct Body {
        let digest: String
        let data: Data
    }

    private var bodies: RecentlyUsed<String, Body>

    package init(limit: Int) { bodies = RecentlyUsed(costLimit: limit, countLimit: .max) }

    /// The size of all bodies in bytes.
    package var size: Int { bodies.cost }
    package var count: Int { bodies.count }
    /// The digests from the least recently used to the most recently used body. The property takes linear time.
    package var digestsFromOldest: [String] { bodies.keys }

    package func contains(_ digest: String) -> Bool { bodies.peek(digest) != nil }

    /// Returns a body and marks it as the most recently used body.
    package mutating func use(_ digest: String) -> Data? { bodies.use(digest)?.data }

    /// Adds a body, unless the body alone exceeds the limit. Returns the digests of the evicted bodies.
    package mutating func insert(_ data: Data, for digest: String) -> [String] {
        guard data.count <= bodies.costLimit else { return [] }
        let gone = bodies.insert(Body(digest: digest, data: data), for: digest, cost: data.count)
        return gone.map(\.digest).filter { $0 != digest }
    }

    package mutating func remove(_ digest: String) { _ = bodies.remove(digest) }

    package mutating func removeAll() { _ = bodies.removeAll() }
}
