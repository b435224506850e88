import CPlatform

/// The check for a child of `fork()` (rule A18).
///
/// The child has only the thread that called `fork()`. Without this check an added operation would wait forever for a worker, or
/// the caller for a lock that another thread held. A child that executes another program, as one of `posix_spawn` does, uses no
/// queue before.
enum Fork {
    /// Stops a process that has lost the threads of the library.
    @inline(__always)
    static func check() { if cplatform_has_lost_threads() { stop() } }

    @inline(never)
    private static func stop() -> Never {
        fatalError(
            """
            a queue is used in a child of fork(), in which the threads of the library do not exist. Start processes with \
            posix_spawn or Foundation's Process, call exec in the child, or fork before the first operation is added.
            """)
    }
}
