#if Combine
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import Operations
public import OpenCombine

extension Operations.OperationQueue {
    /// An instant as the scheduler of an operation queue knows it: a date.
    public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
        /// The date of the instant.
        public var date: Date

        /// The instant of a date.
        public init(_ date: Date) { self.date = date }

        /// The time from this instant to the other one; negative when that is earlier.
        public func distance(to other: SchedulerTimeType) -> Stride {
            Stride(other.date.timeIntervalSince(date))
        }

        /// The instant that lies so much later, or earlier when the time is negative.
        public func advanced(by value: Stride) -> SchedulerTimeType {
            SchedulerTimeType(date.addingTimeInterval(value.timeInterval))
        }

        public static func == (a: SchedulerTimeType, b: SchedulerTimeType) -> Bool { a.date == b.date }

        public static func < (a: SchedulerTimeType, b: SchedulerTimeType) -> Bool { a.date < b.date }
    }

    /// Options of the scheduler of an operation queue, of which there are none.
    ///
    /// Wherever options are asked for, nil is the only value there is.
    public struct SchedulerOptions: Sendable {
        @available(*, unavailable, message: "An operation queue has no options as a scheduler; pass nil")
        public init() { fatalError("OperationQueue.SchedulerOptions: there are none") }
    }
}

extension Operations.OperationQueue.SchedulerTimeType {
    /// A span of time between two instants, in seconds.
    public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
        Codable, Hashable, Sendable
    {
        public typealias FloatLiteralType = TimeInterval
        public typealias IntegerLiteralType = TimeInterval
        public typealias Magnitude = TimeInterval

        /// The span in seconds. It has the sign of the span, as in Foundation: it is no absolute value.
        public var magnitude: TimeInterval

        /// The span in seconds.
        public var timeInterval: TimeInterval { magnitude }

        /// A span of so many seconds.
        public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

        /// A literal counts seconds.
        public init(integerLiteral value: TimeInterval) { magnitude = value }

        /// A literal counts seconds.
        public init(floatLiteral value: TimeInterval) { magnitude = value }

        /// A span of so many seconds; nil when a `TimeInterval` cannot hold the number exactly.
        public init?<T: BinaryInteger>(exactly source: T) {
            guard let seconds = TimeInterval(exactly: source) else { return nil }
            magnitude = seconds
        }

        public static func < (a: Stride, b: Stride) -> Bool { a.magnitude < b.magnitude }
        public static func + (a: Stride, b: Stride) -> Stride { Stride(a.magnitude + b.magnitude) }
        public static func - (a: Stride, b: Stride) -> Stride { Stride(a.magnitude - b.magnitude) }
        public static func * (a: Stride, b: Stride) -> Stride { Stride(a.magnitude * b.magnitude) }
        public static func += (a: inout Stride, b: Stride) { a.magnitude += b.magnitude }
        public static func -= (a: inout Stride, b: Stride) { a.magnitude -= b.magnitude }
        public static func *= (a: inout Stride, b: Stride) { a.magnitude *= b.magnitude }

        public static func seconds(_ s: Int) -> Stride { Stride(TimeInterval(s)) }
        public static func seconds(_ s: Double) -> Stride { Stride(s) }
        public static func milliseconds(_ ms: Int) -> Stride { Stride(TimeInterval(ms) / 1_000) }
        public static func microseconds(_ us: Int) -> Stride { Stride(TimeInterval(us) / 1_000_000) }
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(TimeInterval(ns) / 1_000_000_000) }
    }
}
#endif
