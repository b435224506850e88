import Foundation
import Instrumentation
import ServiceContextModule

/// The stored form of a service context: a dictionary in JSON, which the instruments of the process write and read.
enum TraceContext {
    /// The largest number of bytes of a stored context. A larger context is not stored.
    static let limit = 4_096

    /// Returns the context of the calling task; nil if the instruments of the process write nothing.
    static func current() -> String? {
        guard let context = ServiceContext.current else { return nil }
        var carrier: [String: String] = [:]
        InstrumentationSystem.instrument.inject(context, into: &carrier, using: Fields())
        guard !carrier.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(carrier), data.count <= limit else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Calls the body with the stored context as the context of the task, and not with that of the worker.
    static func restore<Result>(_ text: String?, _ body: () throws -> Result) rethrows -> Result {
        let carrier = text.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) } ?? [:]
        var context = ServiceContext.topLevel
        InstrumentationSystem.instrument.extract(carrier, into: &context, using: Fields())
        return try ServiceContext.withValue(context, operation: body)
    }

    private struct Fields: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }

        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }
}
