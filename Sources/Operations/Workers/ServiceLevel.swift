import SchedulerCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The five kinds of threads. A thread keeps its level, apart from a lent one (`LevelLending`): a raised nice value cannot be
/// reduced without privilege (rule P8).
package enum ServiceLevel: Int, CaseIterable, Comparable, Sendable {
    case background, utility, normal, userInitiated, userInteractive

    package init(_ quality: QualityOfService) {
        self =
            switch quality {
            case .background: .background
            case .utility: .utility
            case .default: .normal
            case .userInitiated: .userInitiated
            case .userInteractive: .userInteractive
            }
    }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The level of a task. The five levels correspond to the five lanes, in the order of both.
    init(_ priority: TaskPriority) { self = Self.allCases[Int(PriorityLane(priority).rawValue)] }

    /// The level of a service that is not the service of the queue.
    init(_ service: Schedule.Service) { self.init(QualityOfService(serviceIndex: service.rawValue)) }

    /// The level of the calling thread, which is not a worker.
    static var ofThread: ServiceLevel {
        #if canImport(Darwin)
        let quality = qos_class_self()
        return allCases.last { $0.quality.rawValue <= quality.rawValue } ?? .normal
        #else
        let niceness = Niceness.ofThread - Niceness.ofProcess
        return allCases.last { $0.niceness >= niceness } ?? .background
        #endif
    }

    /// The number that is added to the process's nice value. The levels above normal take effect only with privilege.
    package var niceness: Int32 {
        switch self {
        case .background: 10
        case .utility: 5
        case .normal: 0
        case .userInitiated: -2
        case .userInteractive: -5
        }
    }

    /// Gives the calling thread this level, as far as the system allows.
    func apply() {
        #if canImport(Darwin)
        pthread_set_qos_class_self_np(quality, 0)
        #else
        let wanted = Niceness.ofProcess + niceness
        if Niceness.ofThread != wanted { Niceness.setOfThread(wanted) }
        #endif
    }
}

#if canImport(Darwin)
extension ServiceLevel {
    fileprivate var quality: qos_class_t {
        switch self {
        case .background: QOS_CLASS_BACKGROUND
        case .utility: QOS_CLASS_UTILITY
        case .normal: QOS_CLASS_DEFAULT
        case .userInitiated: QOS_CLASS_USER_INITIATED
        case .userInteractive: QOS_CLASS_USER_INTERACTIVE
        }
    }
}
#else
/// The nice values of threads. On Linux each thread has a value, and a new thread has the value of the thread that
/// creates it.
enum Niceness {
    /// The value of the first thread, at the first read. All threads have this value unless code has changed it.
    static let ofProcess = of(getpid())
    static var ofThread: Int32 { of(0) }

    /// Does nothing where the system does not allow it.
    static func setOfThread(_ niceness: Int32) { set(niceness, of: 0) }
    static func set(_ niceness: Int32, of thread: pid_t) { setpriority(kind, id_t(thread), niceness) }

    /// "Process 0" means the calling thread.
    private static func of(_ thread: pid_t) -> Int32 { getpriority(kind, id_t(thread)) }

    #if canImport(Musl)
    private static let kind = PRIO_PROCESS
    #else
    private static let kind = __priority_which_t(PRIO_PROCESS.rawValue)
    #endif
}
#endif

/// A set of service levels.
struct ServiceLevels: OptionSet, Sendable {
    var rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }
    @inline(__always) init(_ level: ServiceLevel) { rawValue = 1 << UInt8(level.rawValue) }
}

extension QualityOfService {
    init(serviceIndex: UInt8) {
        self =
            switch serviceIndex {
            case 1: .background
            case 2: .utility
            case 3: .userInitiated
            case 4: .userInteractive
            default: .default
            }
    }

    var serviceIndex: UInt8 {
        switch self {
        case .default: 0
        case .background: 1
        case .utility: 2
        case .userInitiated: 3
        case .userInteractive: 4
        }
    }
}

extension Schedule.Service {
    /// The service of an operation with a level of its own.
    init(_ level: ServiceLevel) {
        self =
            switch level {
            case .background: .first
            case .utility: .second
            case .normal: .fifth
            case .userInitiated: .third
            case .userInteractive: .fourth
            }
    }
}
