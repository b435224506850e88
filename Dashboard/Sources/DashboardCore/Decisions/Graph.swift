/// Operations and their dependencies, by index. A dependency with an index that is no node is ignored.
package struct Graph: Sendable {
    package struct Node: Sendable {
        /// The operation; nil for several.
        package var id: Int64?
        package var name: String
        package var state: String
        /// The number of operations for which the node stands.
        package var count: Int

        package init(id: Int64?, name: String, state: String, count: Int = 1) {
            (self.id, self.name, self.state, self.count) = (id, name, state, count)
        }
    }

    package var nodes: [Node]
    /// The indexes of the dependencies of each node.
    package var dependencies: [[Int]]

    package init(nodes: [Node], dependencies: [[Int]]) { (self.nodes, self.dependencies) = (nodes, dependencies) }

    /// The level of each node: the number of operations on the longest path that ends before it. Nodes of cycles, and those behind
    /// them, come after all others. Linear, and without recursion, because chains may have a million operations.
    package func levels() -> (levels: [Int], longest: [Int?]) {
        var dependents: [[Int]] = Array(repeating: [], count: nodes.count)
        var pending = Array(repeating: 0, count: nodes.count)
        for (node, list) in dependencies.enumerated() {
            for dependency in list where nodes.indices.contains(dependency) {
                dependents[dependency].append(node)
                pending[node] += 1
            }
        }
        var levels = Array(repeating: 0, count: nodes.count)
        var longest: [Int?] = Array(repeating: nil, count: nodes.count)
        var open = nodes.indices.filter { pending[$0] == 0 }
        var next = 0
        while next < open.count {
            let node = open[next]
            next += 1
            for dependent in dependents[node] {
                if levels[node] + 1 > levels[dependent] || longest[dependent] == nil {
                    levels[dependent] = levels[node] + 1
                    longest[dependent] = node
                }
                pending[dependent] -= 1
                if pending[dependent] == 0 { open.append(dependent) }
            }
        }
        let deepest = (levels.max() ?? 0) + 1
        for node in nodes.indices where pending[node] > 0 { levels[node] = deepest }
        return (levels, longest)
    }
}
