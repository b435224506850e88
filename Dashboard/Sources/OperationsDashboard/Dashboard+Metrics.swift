#if Metrics
public import CoreMetrics
import DashboardCore

extension Dashboard {
    /// Emits the numbers of all sources as gauges, again and again, until the task is cancelled. Needs no page and no ``run(port:)``.
    ///
    /// The names are in the table of `Documentation/Metrics.md`. A gauge whose queue or worker has gone is destroyed. A look at the
    /// sources costs as much as one for a page, and the pauses are longer if it takes more than a twentieth of `interval`.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks.
    ///   - factory: The factory that makes the gauges; nil for the factory of the process (`MetricsSystem`).
    public func emitMetrics(every interval: Duration = .seconds(15), to factory: (any MetricsFactory)? = nil) async {
        var gauges = EmittedGauges(factory ?? MetricsSystem.factory)
        while !Task.isCancelled {
            let begin = PageClock.now
            gauges.emit(await readings())
            let pause = max(interval.inSeconds, SurveyPace.pause(afterCost: PageClock.now - begin))
            do { try await Task.sleep(for: .seconds(pause)) } catch { break }
        }
        gauges.emit([])
    }

    /// The readings of all sources at this time. A source that does not answer has none.
    func readings() async -> [MetricReading] {
        var all: [MetricReading] = []
        for source in sources {
            let overview = await withCheckedContinuation { continuation in
                source.answer(.overview) { continuation.resume(returning: try? $0.get()) }
            }
            if let overview { all += MetricReading.all(of: overview) }
        }
        return all
    }
}

/// The gauges that exist.
struct EmittedGauges {
    private let factory: any MetricsFactory
    private var gauges: [MetricReading.Key: Gauge] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Sets the gauges of the readings, and destroys all others. Readings of one key are added up: queues may share a name.
    mutating func emit(_ readings: [MetricReading]) {
        let sums = Dictionary(readings.map { ($0.key, $0.value) }, uniquingKeysWith: +)
        for (key, value) in sums {
            let gauge =
                gauges[key]
                ?? Gauge(label: key.label, dimensions: key.dimensions.map { ($0.name, $0.value) }, factory: factory)
            gauges[key] = gauge
            gauge.record(value)
        }
        for (key, gauge) in gauges where sums[key] == nil {
            gauge.destroy()
            gauges[key] = nil
        }
    }
}
#endif
