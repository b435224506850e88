/// The recently used values by key, within limits of cost and count. The type is a value. Every method takes constant
/// time, except the methods that visit all values.
///
/// Methods return the removed values, so that the caller can release them without a lock.
package struct RecentlyUsed<Key: Hashable, Value> {
    private struct Node {
        let key: Key
        let value: Value
        let cost: Int
        var older: Int?
        var newer: Int?
    }

    package let costLimit: Int
    package let countLimit: Int
    /// The cost of all values.
    package private(set) var cost = 0
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var (oldest, newest): (Int?, Int?) = (nil, nil)

    package init(costLimit: Int, countLimit: Int) {
        self.costLimit = max(0, costLimit)
        self.countLimit = max(0, countLimit)
    }

    package var count: Int { places.count }

    /// The keys from the least recently used to the most recently used. The property takes linear time.
    package var keys: [Key] {
        Array(
            sequence(state: oldest) { place in
                guard let node = place.flatMap({ nodes[$0] }) else { return nil }
                place = node.newer
                return node.key
            })
    }

    /// Returns a value and marks it as the most recently used value.
    package mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let node = unlink(place) else { return nil }
        link(place, node)
        return node.value
    }

    /// Returns a value without counting a use.
    package func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0]?.value } }

    /// Adds a value as the most recently used value, unless the value alone exceeds a limit. Returns the values that
    /// are not kept, which can include the value itself.
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
        var gone = remove(key).map { [$0] } ?? []
        let cost = max(0, cost)
        guard cost <= costLimit, countLimit > 0 else { return gone + [value] }
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(nil) }
        places[key] = place
        link(place, Node(key: key, value: value, cost: cost))
        // Neither number is negative. The comparison avoids an overflow of the sum.
        self.cost = self.cost > .max - cost ? .max : self.cost + cost
        gone += trim()
        return gone
    }

    package mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = unlink(place) else { return nil }
        free.append(place)
        cost -= node.cost
        return node.value
    }

    /// Removes all values. The method takes linear time.
    package mutating func removeAll() -> [Value] { keys.compactMap { remove($0) } }

    private mutating func trim() -> [Value] {
        var gone: [Value] = []
        while cost > costLimit || count > countLimit, let place = oldest, let key = nodes[place]?.key,
            let value = remove(key)
        { gone.append(value) }
        return gone
    }

    private mutating func link(_ place: Int, _ node: Node) {
        var node = node
        (node.older, node.newer) = (newest, nil)
        nodes[place] = node
        if let newest { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) -> Node? {
        guard let node = nodes[place] else { return nil }
        nodes[place] = nil
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        return node
    }
}
