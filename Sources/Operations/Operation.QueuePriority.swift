import KeyValueObserving
package import SchedulerCore

extension Operation {
    /// The order in which a queue starts ready operations.
    public enum QueuePriority: Int, Sendable, CaseIterable {
        case veryLow = -8
        case low = -4
        case normal = 0
        case high = 4
        case veryHigh = 8

        /// Creates the first constant that a value reaches on its way to normal: −10 becomes `veryLow`, 5 `high`, −3
        /// `normal`.
        public init(clamping value: Int) {
            switch value {
            case ...(-8): self = .veryLow
            case -7 ... -4: self = .low
            case -3...3: self = .normal
            case 4...7: self = .high
            default: self = .veryHigh
            }
        }

        package var lane: PriorityLane {
            switch self {
            case .veryLow: .veryLow
            case .low: .low
            case .normal: .normal
            case .high: .high
            case .veryHigh: .veryHigh
            }
        }

        package init(_ lane: PriorityLane) {
            switch lane {
            case .veryLow: self = .veryLow
            case .low: self = .low
            case .normal: self = .normal
            case .high: self = .high
            case .veryHigh: self = .veryHigh
            }
        }
    }
}

/// Key-value coding sets a priority by its number, clamped.
extension Operation.QueuePriority: KeyValueConvertible {
    package init?(keyValue: Any) {
        switch keyValue {
        case let number as any BinaryInteger: self.init(clamping: Int(clamping: number))
        case let number as any BinaryFloatingPoint:
            guard let number = Int(exactly: Double(number)) else { return nil }
            self.init(clamping: number)
        default: return nil
        }
    }
}
