import CPlatform

/// Reads properties, overridden or not, for the system itself. If user code tracks the reads of this thread at that
/// moment, these reads are not tracked (rule K8). The check costs nothing.
@inline(__always)
func untracked<Answer>(_ read: () -> Answer) -> Answer {
    let thread = cplatform_this_thread()
    let outer = thread.pointee.isAsking
    thread.pointee.isAsking = true
    defer { thread.pointee.isAsking = outer }
    return read()
}
