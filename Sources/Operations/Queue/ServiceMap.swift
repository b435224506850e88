import SchedulerCore
import Synchronization

/// The service level of each service of a queue, in one number that threads read without the queue's lock.
///
/// An operation without a quality of its own has the service `ofQueue`. Its level is the level of the queue. The level of
/// any other operation is its own level, or the level of the queue if that is higher (rule P6).
struct ServiceMap: Equatable, Sendable {
    // Bits 0 to 17: the levels of the six services, three bits each. Bits 18 to 47: the services of the five levels, six bits
    // each.
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    private init(_ level: (Schedule.Service) -> ServiceLevel) {
        var bits: UInt64 = 0
        for service in Schedule.Service.allCases {
            let level = UInt64(level(service).rawValue)
            bits |= level << (3 * UInt64(service.rawValue))
            bits |= 1 << (18 + 6 * level + UInt64(service.rawValue))
        }
        rawValue = bits
    }

    /// Creates the map of a queue whose threads come from the pools.
    init(queueLevel: ServiceLevel) {
        self.init { service in
            guard service != .ofQueue else { return queueLevel }
            let own = ServiceLevel(service)
            // A queue without a quality of its own raises nothing.
            return queueLevel == .normal ? own : max(own, queueLevel)
        }
    }

    static let ofNewQueue = ServiceMap(queueLevel: .normal)

    /// The map of a queue whose threads have one level: threads of Dispatch, of a host, or the main thread.
    static let oneLevel = ServiceMap { _ in .normal }

    /// Returns the level of the threads that run operations of a service.
    @inline(__always)
    func level(of service: Schedule.Service) -> ServiceLevel {
        ServiceLevel(rawValue: Int(rawValue >> (3 * UInt64(service.rawValue)) & 7)).unsafelyUnwrapped
    }

    /// Returns the services of the operations that threads of a level run.
    @inline(__always)
    func services(of level: ServiceLevel) -> Schedule.Services {
        Schedule.Services(rawValue: UInt8(truncatingIfNeeded: rawValue >> (18 + 6 * UInt64(level.rawValue)) & 0b111111))
    }

    /// Returns the levels of the threads that run operations of some of the services.
    func levels(of services: Schedule.Services) -> ServiceLevels {
        var (levels, rest) = (UInt8(0), services.rawValue)
        while rest != 0 {
            levels |= 1 << UInt8(truncatingIfNeeded: rawValue >> (3 * UInt64(rest.trailingZeroBitCount)) & 7)
            rest &= rest - 1
        }
        return ServiceLevels(rawValue: levels)
    }
}

extension OperationQueue {
    @inline(__always)
    final var serviceMap: ServiceMap { ServiceMap(rawValue: serviceBits.load(ordering: .relaxed)) }

    /// Whether threads of different levels run the operations.
    final var hasLevels: Bool { serviceMap != .oneLevel }

    /// The level of operations without a quality of their own.
    final var level: ServiceLevel { serviceMap.level(of: .ofQueue) }

    /// Stores the map after a change of the state. Called with the state locked, so the last change stores last.
    final func updateServiceMap(_ state: borrowing State) {
        let hasLevels = state.kind.isPool && state.underlyingQueue == nil
        let map = hasLevels ? ServiceMap(queueLevel: ServiceLevel(state.qualityOfService)) : .oneLevel
        serviceBits.store(map.rawValue, ordering: .relaxed)
    }
}
