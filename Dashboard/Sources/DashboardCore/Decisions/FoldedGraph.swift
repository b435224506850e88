/// A graph of at most some hundred nodes: operations, or groups of them.
package struct FoldedGraph: Sendable {
    package struct Node: Sendable, Equatable {
        /// The operation; nil for a group.
        package var id: Int64?
        package var name: String
        package var state: String
        package var count: Int
        package var level: Int
        /// Whether an operation of the longest chain is in the node.
        package var isCritical: Bool
    }

    package struct Edge: Sendable, Hashable {
        package var from: Int
        package var to: Int
    }

    package static let nodeLimit = 200
    package static let levelLimit = 40

    package private(set) var nodes: [Node] = []
    package private(set) var edges: [Edge] = []
    /// The number of operations of the graph.
    package let operationCount: Int
    /// The number of operations of the longest chain.
    package let criticalCount: Int

    private struct Key: Hashable {
        var level: Int
        var state: String
        var stem: String
        var single: Int?
    }

    /// Folds a graph. Up to 200 operations stay single. Of more, those of one level with one state and one name without its numbers
    /// become one node; if these are too many, all of one level and state; and then levels are put together.
    package init(_ graph: Graph) {
        operationCount = graph.nodes.reduce(0) { $0 + $1.count }
        let (levels, longest) = graph.levels()
        var critical: Set<Int> = []
        var end = graph.nodes.indices.max { (levels[$0], $1) < (levels[$1], $0) }
        while let node = end, critical.insert(node).inserted { end = longest[node] }
        criticalCount = critical.count
        let height = (levels.max() ?? 0) + 1
        let isWhole = graph.nodes.count <= Self.nodeLimit
        let band = isWhole ? 1 : (height + Self.levelLimit - 1) / Self.levelLimit
        var keys: [Key] = []
        for detail in isWhole ? 0...0 : 1...2 {
            keys = graph.nodes.indices.map { index in
                let node = graph.nodes[index]
                return Key(
                    level: levels[index] / band, state: node.state,
                    stem: detail == 2 ? "" : Self.stem(node.name), single: detail == 0 ? index : nil)
            }
            if Set(keys).count <= Self.nodeLimit { break }
        }
        var places: [Key: Int] = [:]
        var folded: Set<Int> = []
        var place = Array(repeating: 0, count: keys.count)
        for (index, key) in keys.enumerated() {
            let isCritical = critical.contains(index)
            if let known = places[key] {
                folded.insert(known)
                nodes[known].count += graph.nodes[index].count
                nodes[known].isCritical = nodes[known].isCritical || isCritical
                nodes[known].id = nil
                place[index] = known
                continue
            }
            places[key] = nodes.count
            place[index] = nodes.count
            let node = graph.nodes[index]
            nodes.append(
                Node(
                    id: node.id, name: node.name, state: node.state, count: node.count, level: key.level,
                    isCritical: isCritical))
        }
        for (index, key) in keys.enumerated() where folded.contains(place[index]) {
            nodes[place[index]].name = key.stem.isEmpty ? "operations" : key.stem
        }
        var seen: Set<Edge> = []
        for (index, list) in graph.dependencies.enumerated() {
            for dependency in list where graph.nodes.indices.contains(dependency) {
                let edge = Edge(from: place[dependency], to: place[index])
                if edge.from != edge.to, seen.insert(edge).inserted { edges.append(edge) }
            }
        }
    }

    /// The name with each number replaced, and at most 40 characters.
    static func stem(_ name: String) -> String {
        var stem = ""
        for character in name.prefix(40) {
            if !character.isNumber { stem.append(character) } else if stem.last != "#" { stem.append("#") }
        }
        return stem
    }

    package var json: JSON {
        .members([
            "operations": .number(operationCount), "critical": .number(criticalCount),
            "nodes": .list(
                nodes.map { node in
                    .members([
                        "id": JSON(node.id.map(String.init)), "name": .text(node.name), "state": .text(node.state),
                        "count": .number(node.count), "level": .number(node.level),
                        "critical": .boolean(node.isCritical),
                    ])
                }),
            "edges": .list(edges.map { .list([.number($0.from), .number($0.to)]) }),
        ])
    }
}
