import CPlatform

/// Asks for properties, overridden or not, for the system's own purposes: if somebody tracks what this thread reads at this
/// moment, that is none of it (rule K8). And it costs nothing to find out.
@inline(__always)
func untracked<Answer>(_ read: () -> Answer) -> Answer {
    let thread = cplatform_this_thread()
    let outer = thread.pointee.isAsking
    thread.pointee.isAsking = true
    defer { thread.pointee.isAsking = outer }
    return read()
}
