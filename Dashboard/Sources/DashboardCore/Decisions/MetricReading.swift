/// A number of the page, as a gauge of a metrics system.
package struct MetricReading: Sendable, Hashable {
    /// The name of a gauge, with its dimensions. The gauges of one key are one time series.
    package struct Key: Sendable, Hashable {
        package var label: String
        package var dimensions: [Dimension]
    }

    package struct Dimension: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package var key: Key
    package var value: Double

    private init(_ label: String, _ dimensions: KeyValuePairs<String, String>, _ value: Double) {
        key = Key(label: label, dimensions: dimensions.map { Dimension(name: $0.key, value: $0.value) })
        self.value = value
    }

    /// Returns the readings of an overview of a source. Absent numbers have none.
    package static func all(of overview: JSON) -> [MetricReading] {
        guard overview["gone"] == nil, let name = overview.text("name") else { return [] }
        return switch overview.text("kind") {
        case "queue": queue(overview, name)
        case "durable": store(overview, name)
        case "report": report(overview, name)
        default: []
        }
    }

    private static func queue(_ overview: JSON, _ name: String) -> [MetricReading] {
        // The default name has the address of the queue, and each new value of a dimension adds a time series.
        let name = name.hasPrefix("NSOperationQueue 0x") || name == "unnamed queue" ? "unnamed" : name
        var readings = ["running", "ready", "waiting"].compactMap { state in
            overview.number(state).map { MetricReading("operations_depth", ["queue": name, "state": state], $0) }
        }
        func add(_ label: String, _ value: Double?) {
            if let value { readings.append(MetricReading(label, ["queue": name], value)) }
        }
        add("operations_oldest_seconds", overview.number("oldest") ?? 0)
        add("operations_starts_per_second", overview.number("rate"))
        add("operations_limit", overview.number("limit"))
        add("operations_suspended", overview.flag("suspended"))
        add("operations_stalled", overview["stall"] == .null ? 0 : 1)
        return readings
    }

    private static func store(_ overview: JSON, _ store: String) -> [MetricReading] {
        var readings: [MetricReading] = []
        for queue in overview.list("queues") {
            guard let name = queue.text("name") else { continue }
            for pair in queue.list("counts") {
                guard case .list(let parts) = pair, parts.count == 2, case .text(let state) = parts[0],
                    case .number(let count) = parts[1]
                else { continue }
                readings.append(
                    .init("durable_depth", ["store": store, "queue": name, "state": state], Double(count)))
            }
            func add(_ label: String, _ value: Double?) {
                if let value { readings.append(.init(label, ["store": store, "queue": name], value)) }
            }
            add("durable_oldest_ready_seconds", queue.number("oldest") ?? 0)
            add("durable_limit", queue.number("limit"))
            add("durable_suspended", queue.flag("suspended"))
        }
        let workers = overview.list("workers")
        readings.append(.init("durable_workers", ["store": store], Double(workers.count)))
        for worker in workers {
            guard let name = worker.text("name") else { continue }
            for (label, member) in [("durable_worker_running", "running"), ("durable_worker_lease_seconds", "lease")] {
                if let value = worker.number(member) {
                    readings.append(.init(label, ["store": store, "worker": name], value))
                }
            }
        }
        for schedule in overview.list("schedules") {
            guard let name = schedule.text("name"), let next = schedule.number("next") else { continue }
            readings.append(.init("durable_schedule_next_seconds", ["store": store, "schedule": name], next))
        }
        return readings
    }

    private static func report(_ overview: JSON, _ name: String) -> [MetricReading] {
        let states = ["running", "waiting", "done", "failed", "skipped", "cancelled"].compactMap { state in
            overview.number(state).map { MetricReading("report_depth", ["report": name, "state": state], $0) }
        }
        return states + (overview.number("left").map { [.init("report_left_seconds", ["report": name], $0)] } ?? [])
    }
}

extension JSON {
    fileprivate func text(_ name: String) -> String? { if case .text(let text) = self[name] { text } else { nil } }
    fileprivate func list(_ name: String) -> [JSON] { if case .list(let list) = self[name] { list } else { [] } }
    fileprivate func flag(_ name: String) -> Double? {
        if case .boolean(let value) = self[name] { value ? 1 : 0 } else { nil }
    }

    fileprivate func number(_ name: String) -> Double? {
        switch self[name] {
        case .number(let number): Double(number)
        case .decimal(let number): number
        default: nil
        }
    }
}
