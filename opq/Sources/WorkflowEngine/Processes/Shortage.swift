import Glibc

/// Something the system has run out of, so that a command cannot start now but perhaps later.
enum Shortage: Error, Equatable {
    /// This process has as many descriptors as it may have.
    case descriptors
    /// The whole system has as many open files as it may have.
    case systemDescriptors
    /// The user has as many processes and threads as the user may have.
    case processes
    /// There is no memory left.
    case memory
    /// There is no space left in the directory.
    case space(directory: String)

    /// The shortage that an error number stands for, if it stands for one.
    ///
    /// - Parameter directory: Where the failed call would have needed space.
    init?(_ number: Int32, directory: String) {
        switch number {
        case EMFILE: self = .descriptors
        case ENFILE: self = .systemDescriptors
        case EAGAIN: self = .processes
        case ENOMEM: self = .memory
        case ENOSPC, EDQUOT: self = .space(directory: directory)
        default: return nil
        }
    }

    /// The shortage in words, with the limit that was reached.
    var text: String {
        switch self {
        case .descriptors: "no file descriptor is left (ulimit -n is \(Self.limit(Int32(RLIMIT_NOFILE.rawValue))))"
        case .systemDescriptors: "the system has no open file left (sysctl fs.file-max)"
        case .processes:
            "no process is left (ulimit -u is \(Self.limit(6)), or the limit of the control group is reached)"
        case .memory: "no memory is left"
        case .space(let directory): "no space is left in '\(directory)'"
        }
    }

    /// The soft limit of a resource.
    private static func limit(_ resource: Int32) -> String {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(resource)), &limits) == 0, limits.rlim_cur != rlim_t.max else {
            return "unlimited"
        }
        return "\(limits.rlim_cur)"
    }
}

/// Why a command could not be started, other than by a shortage.
struct StartFailure: Error, Equatable {
    /// The reason in words.
    let text: String
}

/// The words of the C library for an error number.
func errorText(_ number: Int32) -> String { String(cString: strerror(number)) }
