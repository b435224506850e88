#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

import CPlatform

/// A view of another thread: its used processor time, and whether it sleeps.
struct ThreadClock: Sendable {
    #if canImport(Darwin)
    private let port: mach_port_t

    static var current: ThreadClock { ThreadClock(port: pthread_mach_thread_np(pthread_self())) }

    /// Nanoseconds of processor time used.
    var used: UInt64 {
        var info = thread_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<thread_basic_info>.size / MemoryLayout<natural_t>.size)
        withUnsafeMutablePointer(to: &info) {
            $0.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                _ = thread_info(port, thread_flavor_t(THREAD_BASIC_INFO), $0, &count)
            }
        }
        let user = UInt64(info.user_time.seconds) * 1_000_000 + UInt64(info.user_time.microseconds)
        let system = UInt64(info.system_time.seconds) * 1_000_000 + UInt64(info.system_time.microseconds)
        return (user + system) * 1_000
    }

    /// Always true: this system shows only whether the clock of the thread stands still.
    var isAsleep: Bool { true }
    #else
    private let clock: clockid_t
    private let thread: pid_t

    static var current: ThreadClock {
        var clock = clockid_t()
        pthread_getcpuclockid(pthread_self(), &clock)
        return ThreadClock(clock: clock, thread: cplatform_thread_id())
    }

    /// Nanoseconds of processor time used.
    var used: UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.wholeNanoseconds
    }

    func setNiceness(_ niceness: Int32) { Niceness.set(niceness, of: thread) }

    /// Whether the kernel reports that the thread sleeps. A clock also stands still when other processes use all cores.
    var isAsleep: Bool {
        guard let text = Processor.contents(of: "/proc/self/task/\(thread)/stat")?.utf8 else { return true }
        // `id (name) state …`: the name may contain anything, so the state follows the last parenthesis.
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return true }
        return !text[end...].starts(with: ") R".utf8)
    }
    #endif
}
