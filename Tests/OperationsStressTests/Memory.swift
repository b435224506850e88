#if canImport(Glibc)
import CAllocator
import Glibc

/// In bytes.
enum Memory {
    /// The memory that `malloc` has given out. With the allocators of sanitizers the count is 0.
    static var inUse: Int {
        let info = mallinfo2()
        return info.uordblks + info.hblkhd
    }

    /// The memory in use, as soon as it is within the limit, or after ten seconds. A worker may hold the last reference
    /// to a queue or a chain, and a task may sleep. Each releases its memory a moment after the waiters were woken. No event
    /// announces that.
    static func inUse(atMost limit: Int) -> Int {
        for _ in 0..<1_000 where inUse > limit { usleep(10_000) }
        return inUse
    }

    /// The memory of the process, after `malloc` has returned unused memory. It keeps some megabytes for each thread.
    static var resident: Int {
        malloc_trim(0)
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var (size, resident) = (0, 0)
        withUnsafeMutablePointer(to: &size) { size in
            withUnsafeMutablePointer(to: &resident) { resident in
                _ = withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
            }
        }
        return resident * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
#endif
