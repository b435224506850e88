#if canImport(FoundationEssentials)
// Foundation would make a program load ICU at its start.
public import FoundationEssentials
#else
public import Foundation
#endif

extension OperationTimeline {
    /// Returns the trace in Chrome's JSON format, for Perfetto and `chrome://tracing`.
    ///
    /// The trace has a process for each queue and a thread for each lane of parallel operations. Waiting operations are
    /// asynchronous events.
    ///
    /// - Parameter title: The title in the metadata; nil for none.
    public func chromeTrace(title: String? = nil) throws -> Data {
        let spans = spans
        // A span that has not finished ends with the last event, which may be its own start.
        let end = spans.map { $0.finished ?? $0.started ?? $0.added }.max() ?? .zero
        let lanes = Lanes(spans, end: end)
        let processes = Dictionary(uniqueKeysWithValues: lanes.queues.enumerated().map { ($1.name, $0 + 1) })
        var events: [ChromeEvent] = []
        for (name, id) in processes.sorted(by: { $0.value < $1.value }) {
            events.append(ChromeEvent(name: "process_name", ph: "M", pid: id, args: ["name": name]))
        }
        for (span, lane) in lanes.placed {
            guard let started = span.started else { continue }
            events.append(
                ChromeEvent(
                    name: span.name, ph: "X", pid: processes[span.queue] ?? 0, tid: lane + 1, ts: started.microseconds,
                    dur: ((span.finished ?? end) - started).microseconds, cat: "run",
                    args: ["outcome": span.outcome, "waited": "\(started - span.added)"]))
        }
        for (index, span) in spans.enumerated() {
            let pid = processes[span.queue] ?? 0
            let waitEnd = span.started ?? span.finished ?? end
            for (phase, time) in [("b", span.added), ("e", waitEnd)] {
                events.append(
                    ChromeEvent(
                        name: "\(span.name) waits", ph: phase, pid: pid, tid: 0, ts: time.microseconds, cat: "wait",
                        id: index))
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(ChromeTrace(traceEvents: events, otherData: title.map { ["title": $0] }))
    }
}

private struct ChromeTrace: Encodable {
    let traceEvents: [ChromeEvent]
    let displayTimeUnit = "ms"
    let otherData: [String: String]?
}

/// An event; see “Trace Event Format”. The encoding omits properties that are nil.
private struct ChromeEvent: Encodable {
    var name: String
    var ph: String
    var pid: Int
    var tid: Int?
    /// The time in microseconds.
    var ts: Double?
    var dur: Double?
    var cat: String?
    var id: Int?
    var args: [String: String]?
}

extension Duration {
    fileprivate var microseconds: Double { self / .microseconds(1) }
}
