#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The processor, from a thread's point of view.
enum Processor {
    /// The number of cores this process may use.
    static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    static func yield() { sched_yield() }

    /// Looks a few hundred times, about a microsecond or two, before a thread goes to sleep, which costs more.
    @inline(__always)
    static func spin(until condition: () -> Bool) -> Bool {
        guard count > 1 else { return condition() }
        for _ in 0..<200 where condition() { return true }
        return false
    }
}
