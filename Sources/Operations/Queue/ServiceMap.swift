import SchedulerCore
import Synchronization

/// The service level of each service of a queue, in one number that threads read without the queue's lock.
///
/// An operation without a quality of its own has the service `ofQueue`. Its level is the level of the queue. The level of
/// any other operation is its own level, or the level of the queue if that is higher (rule P6).
struct ServiceMap: Equatable, Sendable {
    // Bits 0 to 14: the levels of the five services, three bits each. Bits 16 to 40: the services of the five levels, five
    // bits each.
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    private init(_ level: (Schedule.Service) -> ServiceLevel) {
        var bits: UInt64 = 0
        for service in Schedule.Service.allCases {
            let level = UInt64(level(service).rawValue)
            bits |= level << (3 * UInt64(service.rawValue))
            bits |= 1 << (16 + 5 * level + UInt64(service.rawValue))
        }
        rawValue = bits
    }

    /// Creates the map of a queue whose threads come from the pools.
    init(queueLevel: ServiceLevel) {
        self.init { service in
            guard service != .ofQueue else { return queueLevel }
            let own = ServiceLevel(QualityOfService(serviceIndex: service.rawValue))
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
        Schedule.Services(rawValue: UInt8(truncatingIfNeeded: rawValue >> (16 + 5 * UInt64(level.rawValue)) & 0b11111))
    }

    /// Returns the levels of the threads that run operations of some of the services.
    func levels(of services: Schedule.Services) -> ServiceLevels {
        var levels = ServiceLevels()
        for level in ServiceLevel.allCases where !self.services(of: level).isDisjoint(with: services) {
            levels.insert(ServiceLevels(level))
        }
        return levels
    }
}

extension OperationQueue {
    @inline(__always)
    final var serviceMap: ServiceMap { ServiceMap(rawValue: serviceBits.load(ordering: .relaxed)) }

    /// The level of operations without a quality of their own.
    final var level: ServiceLevel { serviceMap.level(of: .ofQueue) }

    /// Stores the map after a change of the state. Called with the state locked, so the last change stores last.
    final func updateServiceMap(_ state: borrowing State) {
        let hasLevels = state.kind.isPool && state.underlyingQueue == nil
        let map = hasLevels ? ServiceMap(queueLevel: ServiceLevel(state.qualityOfService)) : .oneLevel
        serviceBits.store(map.rawValue, ordering: .relaxed)
    }
}

extension Operation {
    /// The service by which the queue schedules the operation.
    @inline(__always)
    final var service: Schedule.Service {
        unsafeBitCast(serviceIndex.load(ordering: .relaxed), to: Schedule.Service.self)
    }

    /// Reads `qualityOfService`, overridden or not, for the queue. Called by the adding thread, and after a change.
    final func readService() {
        let quality = asked {
            $0.serviceIndex
        } else: {
            qualityOfService.serviceIndex
        }
        if serviceIndex.load(ordering: .relaxed) != quality { serviceIndex.store(quality, ordering: .relaxed) }
    }
}
