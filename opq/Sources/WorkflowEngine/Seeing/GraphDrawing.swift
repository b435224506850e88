/// A drawing of a graph as an image in SVG, which follows the light or dark scheme of the reader.
struct GraphDrawing {
    private static let (nodeHeight, gap, margin) = (28.0, 56.0, 12.0)
    /// The width of a column of the font.
    private static let columnWidth = 7.3
    private static let longestLabel = 40

    private static let style = """
        text { font: 13px system-ui, sans-serif; fill: #212529 } rect { fill: #e7f5ff; stroke: #4dabf7 }
        .family rect { fill: #fff3bf; stroke: #fab005 } path { fill: none; stroke: #868e96 } marker path { fill: #868e96 }
        @media (prefers-color-scheme: dark) {
          svg { background: #1a1b1e } text { fill: #dee2e6 } rect { fill: #1c3d5a; stroke: #4dabf7 }
          .family rect { fill: #4a3b12; stroke: #fab005 } }
        """

    private let graph: WorkflowGraph
    private let layout: GraphLayout
    private let labels: [String]
    /// The left edge of each layer, and its width.
    private var columns: [(x: Double, width: Double)] = []

    init(of graph: WorkflowGraph) {
        self.graph = graph
        let layout = GraphLayout(nodeCount: graph.nodes.count, edges: graph.edges)
        self.layout = layout
        let labels = graph.nodes.map { node in
            let label = node.label
            return label.columnCount <= Self.longestLabel ? label : label.prefix(columns: Self.longestLabel - 1) + "…"
        }
        self.labels = labels
        var x = Self.margin
        for layer in layout.layers {
            let texts = layer.compactMap { layout.places[$0].node.map { labels[$0].columnCount } }
            let width = Double(texts.max() ?? 0) * Self.columnWidth + 20
            columns.append((x, width))
            x += width + Self.gap
        }
    }

    /// The text of the image.
    var svg: String {
        let width = (columns.last.map { $0.x + $0.width } ?? 0) + Self.margin
        let height = (layout.places.map(\.y).max() ?? 0) + Self.nodeHeight + 2 * Self.margin
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Self.text(width)) \(Self.text(height))\" "
                + "width=\"\(Self.text(width))\" role=\"img\">",
            "<title>\((graph.title ?? "workflow").visible.escapedForXML)</title>", "<style>\(Self.style)</style>",
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                + "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>",
        ]
        for route in layout.routes { lines.append("<path d=\"\(path(of: route))\" marker-end=\"url(#arrow)\"/>") }
        for place in layout.places {
            guard let node = place.node else { continue }
            let (x, y) = (columns[place.layer].x, place.y + Self.margin)
            let width = Double(labels[node].columnCount) * Self.columnWidth + 20
            lines.append(
                "<g\(graph.nodes[node].count == nil ? "" : " class=\"family\"")>"
                    + "<title>\(graph.nodes[node].label.escapedForXML)</title>"
                    + "<rect x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(width))\" "
                    + "height=\"\(Self.text(Self.nodeHeight))\" rx=\"4\"/>"
                    + "<text x=\"\(Self.text(x + 10))\" y=\"\(Self.text(y + 18))\">\(labels[node].escapedForXML)</text></g>"
            )
        }
        return (lines + ["</svg>"]).joined(separator: "\n")
    }

    private func path(of route: [Int]) -> String {
        guard let first = route.first else { return "" }
        var end = point(first, atEnd: true)
        var path = "M\(Self.text(end.x)) \(Self.text(end.y))"
        for place in route.dropFirst() {
            let next = point(place, atEnd: false)
            let bend = (next.x - end.x) / 2
            path +=
                " C\(Self.text(end.x + bend)) \(Self.text(end.y)) \(Self.text(next.x - bend)) \(Self.text(next.y)) "
                + "\(Self.text(next.x)) \(Self.text(next.y))"
            end = next
            if layout.places[place].node == nil {
                end = point(place, atEnd: true)
                path += " L\(Self.text(end.x)) \(Self.text(end.y))"
            }
        }
        return path
    }

    /// Returns the point at which an edge leaves a place, or arrives there.
    private func point(_ index: Int, atEnd: Bool) -> (x: Double, y: Double) {
        let place = layout.places[index]
        let column = columns[place.layer]
        let width = place.node.map { Double(labels[$0].columnCount) * Self.columnWidth + 20 } ?? column.width
        return (column.x + (atEnd ? width : 0), place.y + Self.margin + (place.node == nil ? 7 : Self.nodeHeight / 2))
    }

    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}

extension String {
    /// The text with entities of XML. Characters that XML does not permit become U+FFFD.
    var escapedForXML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value & 0xFFFE == 0xFFFE: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
