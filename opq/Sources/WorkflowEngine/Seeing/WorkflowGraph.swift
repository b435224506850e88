/// The operations of a plan and the links between them, for a drawing. A family is one node.
public struct WorkflowGraph: Equatable, Sendable {
    /// The form of a drawing. The raw values are the names on the command line.
    public enum Format: String, CaseIterable, Sendable { case dot, mermaid, svg }

    struct Node: Equatable, Sendable {
        let name: String
        /// The number of members of a family. `nil` for a single operation.
        let count: Int?

        /// The text in the node.
        var label: String { count.map { "\(name.visible) (\($0))" } ?? name.visible }
    }

    struct Edge: Hashable, Sendable {
        let from: Int, to: Int
    }

    let title: String?
    private(set) var nodes: [Node] = []
    private(set) var edges: [Edge] = []

    /// Creates the graph of a plan. O(operations and links), or with `showsItems` O(operations · links of each).
    ///
    /// - Parameter showsItems: Whether each member of a family is a node.
    public init(of plan: WorkflowPlan, showsItems: Bool = false) {
        title = plan.name
        var nodeOfOperation: [Int] = []
        var nodeOfFamily: [String: Int] = [:]
        var counts: [Int] = []
        for operation in plan.operations {
            if operation.item != nil, !showsItems, let node = nodeOfFamily[operation.family] {
                nodeOfOperation.append(node)
                counts[node] += 1
                continue
            }
            if operation.item != nil { nodeOfFamily[operation.family] = counts.count }
            nodeOfOperation.append(counts.count)
            counts.append(1)
        }
        var seen: Set<Edge> = []
        var taken: Set<Int> = []
        for (index, operation) in plan.operations.enumerated() {
            let node = nodeOfOperation[index]
            if taken.insert(node).inserted {
                let isFamily = operation.item != nil && !showsItems
                nodes.append(
                    Node(name: isFamily ? operation.family : operation.name, count: isFamily ? counts[node] : nil))
            }
            let barrier = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
            for range in operation.awaited + barrier {
                // All members of a range are of one family, so one of them stands for all.
                let members = showsItems ? range : range.prefix(1)
                for awaited in members where nodeOfOperation[awaited] != node {
                    let edge = Edge(from: nodeOfOperation[awaited], to: node)
                    if seen.insert(edge).inserted { edges.append(edge) }
                }
            }
        }
    }

    /// Returns the drawing as a text.
    public func text(as format: Format) -> String {
        switch format {
        case .dot: dot
        case .mermaid: mermaid
        case .svg: GraphDrawing(of: self).svg
        }
    }

    private var dot: String {
        func quoted(_ text: String) -> String {
            "\"\(text.visible.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        }
        var lines = ["digraph \(quoted(title ?? "workflow")) {", "  rankdir=LR;", "  node [shape=box];"]
        for (index, node) in nodes.enumerated() { lines.append("  n\(index) [label=\(quoted(node.label))];") }
        for edge in edges { lines.append("  n\(edge.from) -> n\(edge.to);") }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private var mermaid: String {
        var lines = ["flowchart LR"]
        for (index, node) in nodes.enumerated() {
            // Mermaid has entities in place of escapes.
            let label = node.label.replacing("#", with: "#35;").replacing("\"", with: "#quot;")
                .replacing("<", with: "#lt;").replacing(">", with: "#gt;")
            lines.append("  n\(index)[\"\(label)\"]")
        }
        for edge in edges { lines.append("  n\(edge.from) --> n\(edge.to)") }
        return lines.joined(separator: "\n")
    }
}
