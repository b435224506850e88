#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

enum Pause {
    /// Lets another thread run.
    static func yield() { sched_yield() }
}
