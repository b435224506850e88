import BenchmarkReport

/// The results as an SVG drawing: a group of horizontal bars for each line, with a scale from zero.
struct Chart {
    private var elements: [String] = []
    /// The position of the next element.
    private var y = 34

    private static let width = 1080
    private static let left = 380
    private static let right = 960
    private static let bar = 16

    init(_ report: Report) {
        text("Cost of network and image operations", x: 20, size: 20)
        for note in [report.machine.text] + report.notes { text(note, x: 20, color: "#666666") }
        for line in report.lines where line.parts.contains(where: { !$0.samples.isEmpty }) { draw(line) }
    }

    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(y + 10)" font-family="sans-serif">
        <rect width="100%" height="100%" fill="white"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private mutating func draw(_ line: LineResult) {
        y += 14
        text("\(line.row) \(line.question): \(line.measure.rawValue)", x: 20, size: 15)
        text(line.work, x: 20, color: "#666666")
        let greatest = line.parts.compactMap(\.samples.median).max() ?? 0
        for part in line.parts {
            guard let median = part.samples.median else { continue }
            let length = greatest > 0 ? Double(Self.right - Self.left) * max(0, median) / greatest : 0
            elements.append(
                "<rect x=\"\(Self.left)\" y=\"\(y - 10)\" width=\"\(max(1, Int(length)))\" height=\"\(Self.bar - 4)\" "
                    + "fill=\"\(part.contender.color)\"/>")
            let start = y
            text(part.name, x: 30)
            y = start
            text("\(median.brief) \(line.measure.unit)", x: Self.left + Int(length) + 6)
        }
    }

    private mutating func text(_ content: String, x: Int, size: Int = 12, color: String = "#111111") {
        elements.append(
            "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(size)\" fill=\"\(color)\">\(content.escaped)</text>")
        y += size + Self.bar - 12
    }
}

extension Contender {
    /// Warm colors mark the contenders of this package.
    fileprivate var color: String {
        switch self {
        case .queue, .download, .decoder: "#d9480f"
        case .operation, .stream: "#f08c00"
        case .bare: "#1c7ed6"
        case .curl: "#2b8a3e"
        case .aria2c: "#9c36b5"
        case .vipsthumbnail: "#868e96"
        }
    }
}
