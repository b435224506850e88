/// The places of the nodes of a graph, in layers from left to right.
///
/// A node is one layer behind the last node that it waits for. An edge over several layers bends at a place of its own in each
/// layer between, so that it crosses no node.
struct GraphLayout {
    /// A node, or a bend of an edge.
    struct Place: Equatable {
        /// The index of the node. `nil` for a bend.
        let node: Int?
        let layer: Int
        var y = 0.0

        /// The height with the gap below.
        var height: Double { node == nil ? 14 : 40 }
    }

    private(set) var places: [Place] = []
    /// The indices of the places of each layer, from the top.
    private(set) var layers: [[Int]] = []
    /// The places of each edge, from its start to its end.
    private(set) var routes: [[Int]] = []
    private var before: [[Int]] = []
    private var after: [[Int]] = []

    /// Creates a layout. O(places · log(places)).
    init(nodeCount: Int, edges: [WorkflowGraph.Edge]) {
        let (layerOfNode, backward) = Self.layers(nodeCount, edges)
        places = layerOfNode.enumerated().map { Place(node: $0, layer: $1) }
        for (index, edge) in edges.enumerated() {
            // An edge of a cycle of folded families leads to the left.
            let isBackward = backward.contains(index)
            let (start, end) = isBackward ? (edge.to, edge.from) : (edge.from, edge.to)
            var route = [start]
            for layer in stride(from: layerOfNode[start] + 1, to: layerOfNode[end], by: 1) {
                route.append(places.count)
                places.append(Place(node: nil, layer: layer))
            }
            route.append(end)
            routes.append(isBackward ? route.reversed() : route)
        }
        before = Array(repeating: [], count: places.count)
        after = before
        for route in routes {
            for (start, end) in zip(route, route.dropFirst()) {
                let (left, right) = places[start].layer <= places[end].layer ? (start, end) : (end, start)
                after[left].append(right)
                before[right].append(left)
            }
        }
        layers = Array(repeating: [], count: (places.map(\.layer).max() ?? -1) + 1)
        for index in places.indices { layers[places[index].layer].append(index) }
        order()
        arrange()
    }

    /// Returns the layer of each node, and the edges that close a cycle.
    private static func layers(_ count: Int, _ edges: [WorkflowGraph.Edge]) -> ([Int], Set<Int>) {
        var outgoing = [[Int]](repeating: [], count: count)
        for (index, edge) in edges.enumerated() { outgoing[edge.from].append(index) }
        // Depth first, without recursion: a chain may be long.
        var state = [UInt8](repeating: 0, count: count)
        var backward: Set<Int> = []
        var finished: [Int] = []
        for start in 0..<count where state[start] == 0 {
            var path = [(node: start, next: 0)]
            state[start] = 1
            while let (node, next) = path.last {
                guard next < outgoing[node].count else {
                    state[node] = 2
                    finished.append(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let edge = outgoing[node][next]
                let target = edges[edge].to
                if state[target] == 1 {
                    backward.insert(edge)
                } else if state[target] == 0 {
                    state[target] = 1
                    path.append((target, 0))
                }
            }
        }
        var layer = [Int](repeating: 0, count: count)
        for node in finished.reversed() {
            for edge in outgoing[node] where !backward.contains(edge) {
                layer[edges[edge].to] = max(layer[edges[edge].to], layer[node] + 1)
            }
        }
        return (layer, backward)
    }

    /// Orders each layer by the mean positions of the neighbors, which removes most crossings.
    private mutating func order() {
        var position = [Double](repeating: 0, count: places.count)
        for layer in layers { for (index, place) in layer.enumerated() { position[place] = Double(index) } }
        for round in 0..<8 {
            let isForward = round % 2 == 0
            for layer in isForward ? Array(layers.indices) : layers.indices.reversed() {
                let keys = layers[layer].map { place in
                    let neighbors = isForward ? before[place] : after[place]
                    return neighbors.isEmpty
                        ? position[place] : neighbors.reduce(0) { $0 + position[$1] } / Double(neighbors.count)
                }
                let sorted = layers[layer].indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
                layers[layer] = sorted.map { layers[layer][$0] }
                for (index, place) in layers[layer].enumerated() { position[place] = Double(index) }
            }
        }
    }

    /// Moves the places toward their neighbors, without a change of the order.
    private mutating func arrange() {
        for layer in layers {
            var y = 0.0
            for place in layer {
                places[place].y = y
                y += places[place].height
            }
        }
        for round in 0..<12 {
            for layer in round % 2 == 0 ? layers : layers.reversed() {
                var wanted = layer.map { place in
                    let neighbors = before[place] + after[place]
                    return neighbors.isEmpty
                        ? places[place].y : neighbors.reduce(0) { $0 + places[$1].y } / Double(neighbors.count)
                }
                // The half of the overlap goes to each side, so that a layer stays around its mean.
                var down = wanted
                for index in wanted.indices.dropFirst() {
                    down[index] = max(down[index], down[index - 1] + places[layer[index - 1]].height)
                }
                for index in wanted.indices.dropLast().reversed() {
                    wanted[index] = min(wanted[index], wanted[index + 1] - places[layer[index]].height)
                }
                for index in layer.indices { places[layer[index]].y = (wanted[index] + down[index]) / 2 }
            }
        }
        let top = places.map(\.y).min() ?? 0
        for index in places.indices { places[index].y -= top }
    }
}
