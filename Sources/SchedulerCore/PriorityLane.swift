/// The five priorities of a queue as lane numbers, lowest first.
@frozen
public enum PriorityLane: UInt8, Sendable, CaseIterable, Comparable {
    case veryLow, low, normal, high, veryHigh

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
