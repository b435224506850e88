import Foundation

/// One row of the cost table: a question, its sizes, and the code that measures the answer.
struct Row: Sendable {
    /// The number of the row in the cost table.
    let number: Int
    let question: String
    /// The sizes of a short run. Each size is measured.
    let small: [Int]
    /// The sizes of the cost table.
    let full: [Int]
    let measure: @Sendable (any Backend, Int) async throws -> [Measurement]

    func sizes(_ options: Options) -> [Int] {
        (options.isFull ? full : small).map { $0 == 1 ? 1 : max(16, $0 / options.scale) }
    }
}

/// The answer to one question, with the bar that judges the answer.
struct Measurement: Sendable {
    /// The direction of a bar.
    enum Bar: Sendable {
        case atLeast(Double)
        case atMost(Double)
        /// The measurement is for information.
        case none
    }

    /// The part of the question, for rows with several measurements.
    var detail = ""
    let count: Int
    let value: Double
    let unit: String
    /// The value of the bare loop of SQL.
    var bare: Double?
    /// The name of the number that the bar judges.
    var scoreName: String
    var score: Double
    var bar: Bar

    /// Creates a rate, which the bar compares with the bare loop.
    init(_ count: Int, in time: Duration, bareTime: Duration, atLeast bar: Double) {
        let rate = { (time: Duration) in Double(count) / (time / .seconds(1)) }
        (self.count, value, unit, bare) = (count, rate(time), "/s", rate(bareTime))
        (scoreName, score, self.bar) = ("of bare", bareTime / time, .atLeast(bar))
    }

    /// Creates a measurement whose score is its value.
    init(_ detail: String, count: Int, value: Double, unit: String, bar: Bar = .none) {
        (self.detail, self.count, self.value, self.unit, self.bar) = (detail, count, value, unit, bar)
        (scoreName, score) = (unit, value)
    }

    /// Creates a measurement with a score of its own.
    init(_ detail: String, count: Int, value: Double, unit: String, score: Double, _ scoreName: String, bar: Bar) {
        self.init(detail, count: count, value: value, unit: unit, bar: bar)
        (self.score, self.scoreName) = (score, scoreName)
    }

    /// Creates a measurement that the number of commits judges, if the database reports the number.
    init(
        _ detail: String, count: Int, value: Double, unit: String, commits: Int?, of parts: Int, _ scoreName: String
    ) {
        self.init(detail, count: count, value: value, unit: unit)
        guard let commits else { return }
        (score, self.scoreName, bar) = (Double(commits) / Double(parts), scoreName, .atMost(2))
    }

    var isMet: Bool? {
        switch bar {
        case .atLeast(let bar): score >= bar
        case .atMost(let bar): score <= bar
        case .none: nil
        }
    }

    private var barText: String {
        switch bar {
        case .atLeast(let bar): "≥ \(Self.text(bar)) \(scoreName)"
        case .atMost(let bar): "≤ \(Self.text(bar)) \(scoreName)"
        case .none: ""
        }
    }

    func line(_ row: Row, _ backend: any Backend) -> String {
        var parts = [
            "\(backend.name) \(row.number). \(row.question)\(detail.isEmpty ? "" : ", \(detail)"), \(count):",
            "\(Self.text(value)) \(unit)",
        ]
        if let bare { parts.append("(bare \(Self.text(bare)) \(unit))") }
        if let isMet { parts.append("score \(Self.text(score)), bar \(barText): \(isMet ? "met" : "NOT MET")") }
        return parts.joined(separator: " ")
    }

    func json(_ row: Row, _ backend: any Backend) throws -> String {
        var object: [String: Any] = [
            "database": backend.name, "row": row.number, "question": row.question, "detail": detail, "count": count,
            "value": value, "unit": unit, "score": score, "scoreName": scoreName, "bar": barText,
        ]
        object["bare"] = bare
        object["isMet"] = isMet
        return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    /// Returns a number with three significant digits or more.
    private static func text(_ number: Double) -> String {
        String(format: number >= 100 ? "%.0f" : number >= 10 ? "%.1f" : "%.2f", number)
    }
}
