package import Foundation

/// The recently used bodies in memory, by digest, within a limit in bytes. The type is a value, and each method takes
/// constant time except `digestsFromOldest` and `removeAll`.
package struct MemoryBodies {
    private struct Node {
        let digest: String
        let data: Data
        var older: Int?
        var newer: Int?
    }

    package let limit: Int
    /// The size of all bodies in bytes.
    package private(set) var size = 0
    private var nodes: [Int: Node] = [:]
    private var places: [String: Int] = [:]
    private var (oldest, newest): (Int?, Int?) = (nil, nil)
    private var lastPlace = 0

    package init(limit: Int) { self.limit = max(0, limit) }

    package var count: Int { nodes.count }
    package var digestsFromOldest: [String] {
        Array(
            sequence(state: oldest) { place in
                guard let node = place.flatMap({ nodes[$0] }) else { return nil }
                place = node.newer
                return node.digest
            })
    }

    package func contains(_ digest: String) -> Bool { places[digest] != nil }

    /// Returns a body and marks it as the most recently used body.
    package mutating func use(_ digest: String) -> Data? {
        guard let place = places[digest], let node = nodes[place] else { return nil }
        unlink(place)
        link(place, digest, node.data)
        return node.data
    }

    /// Adds a body, unless the body alone exceeds the limit. Returns the digests of the evicted bodies.
    package mutating func insert(_ data: Data, for digest: String) -> [String] {
        guard data.count <= limit else { return [] }
        remove(digest)
        lastPlace += 1
        link(lastPlace, digest, data)
        places[digest] = lastPlace
        size += data.count
        var gone: [String] = []
        while size > limit, let place = oldest, let node = nodes[place] {
            gone.append(node.digest)
            remove(node.digest)
        }
        return gone
    }

    package mutating func remove(_ digest: String) {
        guard let place = places.removeValue(forKey: digest), let node = nodes[place] else { return }
        size -= node.data.count
        unlink(place)
    }

    package mutating func removeAll() { self = MemoryBodies(limit: limit) }

    private mutating func link(_ place: Int, _ digest: String, _ data: Data) {
        nodes[place] = Node(digest: digest, data: data, older: newest, newer: nil)
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes.removeValue(forKey: place) else { return }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
    }
}
