#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The limit of the descriptors that the process may have open.
///
/// Tests that run at once have some thousand connections. Usual systems begin with 1,024 descriptors and permit more on request.
public enum DescriptorLimit {
    /// The number of descriptors that the tests need at most.
    public static let needed: UInt64 = 16_384

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif

    /// The present limit, and the largest one that the process may set.
    public static var present: (soft: UInt64, hard: UInt64) {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? (UInt64(limits.rlim_cur), UInt64(limits.rlim_max)) : (0, 0)
    }

    /// Raises the limit to the number that the tests need, if the system permits.
    static func raise() {
        let (soft, hard) = present
        guard soft < needed, soft < hard else { return }
        var limits = rlimit(rlim_cur: rlim_t(min(needed, hard)), rlim_max: rlim_t(hard))
        setrlimit(resource, &limits)
    }
}
