import Glibc

/// A system resource that is exhausted, so that a command cannot start now but may start later.
enum Shortage: Error, Equatable {
    /// This process has reached its limit of open descriptors.
    case descriptors
    /// The system has reached its limit of open files.
    case systemDescriptors
    /// The user has reached the limit of processes and threads.
    case processes
    /// The system has no free memory.
    case memory
    /// The directory has no free space.
    case space(directory: String)

    /// Creates the shortage for an error number. `nil` if the number means no shortage.
    ///
    /// - Parameter directory: The directory in which the failed call needed space.
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

    /// A description of the shortage, with the limit that was reached.
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

    /// Returns the text of the soft limit of a resource.
    private static func limit(_ resource: Int32) -> String {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(resource)), &limits) == 0, limits.rlim_cur != rlim_t.max else {
            return "unlimited"
        }
        return "\(limits.rlim_cur)"
    }
}

/// The reason why a command could not start, other than a shortage.
struct StartFailure: Error, Equatable {
    /// A description of the reason.
    let text: String
}

/// Returns the text of the C library for an error number.
func errorText(_ number: Int32) -> String { String(cString: strerror(number)) }
