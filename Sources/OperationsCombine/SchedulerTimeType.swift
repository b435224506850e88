#if Combine
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import Operations
public import OpenCombine

extension Operations.OperationQueue {
    /// An instant of an operation queue's scheduler: a date.
    public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
        /// The date of the instant.
        public var date: Date

        /// Creates an instant from a date.
        public init(_ date: Date) { self.date = date }

        /// Returns the time from this instant to the other one; negative if the other one is earlier.
        public func distance(to other: SchedulerTimeType) -> Stride {
            Stride(other.date.timeIntervalSince(date))
        }

        /// Returns the instant that is later by this time, or earlier if the time is negative.
        public func advanced(by value: Stride) -> SchedulerTimeType {
            SchedulerTimeType(date.addingTimeInterval(value.timeInterval))
        }

        public static func == (a: SchedulerTimeType, b: SchedulerTimeType) -> Bool { a.date == b.date }

        public static func < (a: SchedulerTimeType, b: SchedulerTimeType) -> Bool { a.date < b.date }
    }

    /// The options of an operation queue's scheduler. There are no options, so nil is the only valid value.
    public struct SchedulerOptions: Sendable {
        @available(*, unavailable, message: "The scheduler of an operation queue has no options; pass nil")
        public init() { fatalError("OperationQueue.SchedulerOptions cannot be created; pass nil") }
    }
}

extension Operations.OperationQueue.SchedulerTimeType {
    /// The time between two instants, in seconds.
    public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
        Codable, Hashable, Sendable
    {
        public typealias FloatLiteralType = TimeInterval
        public typealias IntegerLiteralType = TimeInterval
        public typealias Magnitude = TimeInterval

        /// The time in seconds, with its sign. As in Foundation, the property is not an absolute value.
        public var magnitude: TimeInterval

        /// The time in seconds.
        public var timeInterval: TimeInterval { magnitude }

        /// Creates a time of this many seconds.
        public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

        /// Creates a time from a literal number of seconds.
        public init(integerLiteral value: TimeInterval) { magnitude = value }

        /// Creates a time from a literal number of seconds.
        public init(floatLiteral value: TimeInterval) { magnitude = value }

        /// Creates a time of this many seconds; nil if a `TimeInterval` cannot represent the number exactly.
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

        /// Returns a time of this many seconds.
        public static func seconds(_ s: Int) -> Stride { Stride(TimeInterval(s)) }
        /// Returns a time of this many seconds.
        public static func seconds(_ s: Double) -> Stride { Stride(s) }
        /// Returns a time of this many milliseconds.
        public static func milliseconds(_ ms: Int) -> Stride { Stride(TimeInterval(ms) / 1_000) }
        /// Returns a time of this many microseconds.
        public static func microseconds(_ us: Int) -> Stride { Stride(TimeInterval(us) / 1_000_000) }
        /// Returns a time of this many nanoseconds.
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(TimeInterval(ns) / 1_000_000_000) }
    }
}
#endif
