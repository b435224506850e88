#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform

/// The processor, from a thread's point of view.
enum Processor {
    /// The number of cores this process may use.
    static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    static func yield() { sched_yield() }

    /// Looks again for some microseconds before a thread goes to sleep, because sleeping and being woken costs more.
    @inline(__always)
    static func spin(until condition: () -> Bool) -> Bool {
        for _ in 0..<spins {
            if condition() { return true }
            cplatform_pause()
        }
        return condition()
    }

    /// With a single core, whoever is waited for could not even run meanwhile.
    private static let spins = count > 1 ? 300 : 0
}
