#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform

/// The processors, as the threads of this process use them.
enum Processor {
    /// The number of processors that this process may use: its affinity and, on Linux, the quota of its control groups
    /// count. Read once, at the first use; at least 1.
    static let count = max(1, min(available, ControlGroupQuota(read: contents).processors ?? .max))

    private static var available: Int {
        #if os(Linux)
        // The C library's count of processors ignores the affinity in some versions.
        let affine = Int(cplatform_affine_processors())
        if affine > 0 { return affine }
        #endif
        return Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        let portion = 4096
        while true {
            let count = withUnsafeTemporaryAllocation(byteCount: portion, alignment: 1) { buffer in
                let count = read(file, buffer.baseAddress, portion)
                if count > 0 { bytes += buffer.prefix(count) }
                return count
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        }
    }

    static func yield() { sched_yield() }

    /// Checks the condition for some microseconds, because sleeping and waking up costs more. Returns the last result.
    @inline(__always)
    static func spin(until condition: () -> Bool) -> Bool {
        for _ in 0..<spins {
            if condition() { return true }
            cplatform_pause()
        }
        return condition()
    }

    /// With a single processor, the thread that changes the condition cannot run during the wait.
    private static let spins = count > 1 ? 300 : 0
}
