import BenchmarkReport
import Glibc

/// A drawing (SVG) of the results. Each unit has a panel of horizontal bars, with a group of bars for each line.
///
/// The length of a bar is the logarithm of the figure, except for percentages.
struct Chart {
    private let report: Report
    private let contenders: [Contender]
    private var elements: [String] = []
    /// The vertical position of the next element.
    private var y = 0.0

    private static let width = 1080.0
    private static let left = 440.0
    private static let right = 980.0
    private static let bar = 13.0
    private static let grey = "#666666"

    init(_ report: Report) {
        self.report = report
        contenders = report.lines.contenders
        title()
        legend()
        for unit in Unit.allCases {
            let lines = report.lines.filter { $0.unit == unit && !$0.medians.isEmpty }
            if !lines.isEmpty { panel(unit, lines) }
        }
    }

    var svg: String {
        let size = "\(Int(Self.width))\" height=\"\(Int(y + 20))"
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(size)" font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    // MARK: - Parts

    private mutating func title() {
        let machine = report.machine
        text("Cost per operation", x: 20, y: 34, size: 20)
        let place = "\(machine.processor), \(machine.cores) cores; \(machine.kernel); \(machine.swift)"
        text(place, x: 20, y: 56, color: Self.grey)
        let way =
            "\(machine.date), load before \(machine.load.brief); medians of \(report.scale.repetitions) repetitions"
        text(way + (report.scale == .quick ? ", quick" : ""), x: 20, y: 74, color: Self.grey)
        y = 96
    }

    private mutating func legend() {
        var x = 20.0
        for contender in contenders {
            rectangle(x: x, y: y - 10, width: 12, height: 12, color: contender.color)
            text(contender.rawValue, x: x + 18, y: y)
            x += 40 + 8 * Double(contender.rawValue.count)
        }
        y += 24
    }

    private mutating func panel(_ unit: Unit, _ lines: [LineResult]) {
        let axis = Axis(unit, of: lines.flatMap { $0.medians.values })
        text(unit.title, x: 20, y: y + 14, size: 15)
        let top = y + 26
        y = top + 8
        // The grid is below the bars, but its height is known only after the bars are drawn.
        let underBars = elements.endIndex
        for line in lines { group(line, axis) }
        let grid = axis.ticks.flatMap { tick in
            let x = Self.position(of: tick, axis)
            return [
                "<path d=\"M\(x.pixels) \(top.pixels)V\(y.pixels)\" stroke=\"#dddddd\"/>",
                Self.label(tick.brief, x: x, y: y + 14, anchor: "middle", color: Self.grey),
            ]
        }
        elements.insert(contentsOf: grid, at: underBars)
        y += 38
    }

    private mutating func group(_ line: LineResult, _ axis: Axis) {
        let medians = contenders.compactMap { contender in line.medians[contender].map { (contender, $0) } }
        let height = max(Double(medians.count) * Self.bar, 2 * 15)
        text("\(line.row) \(line.question)", x: 20, y: y + 12)
        text(line.work.shortened(to: 68), x: 20, y: y + 26, size: 11, color: Self.grey)
        for (index, (contender, median)) in medians.enumerated() {
            let top = y + Double(index) * Self.bar
            let end = Self.position(of: median, axis)
            rectangle(x: Self.left, y: top, width: end - Self.left, height: Self.bar - 2, color: contender.color)
            text(median.brief, x: end + 4, y: top + 10, size: 11)
        }
        y += height + 10
    }

    // MARK: - Elements

    private mutating func text(
        _ content: String, x: Double, y: Double, size: Int = 12, color: String = "#111111"
    ) {
        elements.append(Self.label(content, x: x, y: y, size: size, color: color))
    }

    private mutating func rectangle(x: Double, y: Double, width: Double, height: Double, color: String) {
        elements.append(
            "<rect x=\"\(x.pixels)\" y=\"\(y.pixels)\" width=\"\(width.pixels)\" height=\"\(height.pixels)\" "
                + "fill=\"\(color)\"/>")
    }

    private static func label(
        _ content: String, x: Double, y: Double, size: Int = 12, anchor: String = "start", color: String
    ) -> String {
        "<text x=\"\(x.pixels)\" y=\"\(y.pixels)\" font-size=\"\(size)\" text-anchor=\"\(anchor)\" fill=\"\(color)\" "
            // A white outline makes the text readable on a line of the grid.
            + "stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">" + content.escaped + "</text>"
    }

    private static func position(of value: Double, _ axis: Axis) -> Double {
        left + (right - left) * axis.part(of: value)
    }
}

/// The scale of a panel, from its left end to its right end.
private struct Axis {
    let ticks: [Double]
    private let isLogarithmic: Bool

    init(_ unit: Unit, of values: [Double]) {
        isLogarithmic = unit != .percent
        if isLogarithmic {
            let least = log10(values.min() ?? 1).nextDown.rounded(.down)
            let greatest = max(log10(values.max() ?? 1).rounded(.up), least + 1)
            ticks = stride(from: least, through: greatest, by: 1).map { pow(10, $0) }
        } else {
            // Noise may produce figures above one hundred.
            ticks = stride(from: 0, to: max(100, values.max() ?? 0) + 20, by: 20).map(\.self)
        }
    }

    /// Returns the position of a figure, from 0 to 1.
    func part(of value: Double) -> Double {
        let place = isLogarithmic ? { log10($0) } : { (value: Double) in value }
        let (first, last) = (place(ticks[0]), place(ticks[ticks.count - 1]))
        return min(max((place(value) - first) / (last - first), 0.002), 1)
    }
}

extension Contender {
    fileprivate var color: String {
        switch self {
        case .operations: "#d9480f"
        case .foundation: "#1c7ed6"
        case .dispatch: "#2b8a3e"
        case .taskGroup: "#9c36b5"
        case .oneTBB: "#868e96"
        }
    }
}

extension Unit {
    fileprivate var title: String {
        switch self {
        case .nanosecondsPerOperation: "Nanoseconds per operation (logarithmic)"
        case .bytesPerOperation: "Bytes per operation (logarithmic)"
        case .milliseconds: "Milliseconds (logarithmic)"
        case .percent: "Percent of the work of plain threads (more is better)"
        }
    }
}

extension Double {
    fileprivate var pixels: String { "\((self * 10).rounded() / 10)" }
}

extension String {
    fileprivate func shortened(to length: Int) -> String { count > length ? prefix(length - 1) + "…" : self }
}
