import Glibc

/// Runs `body` on so many threads at once, and returns when all have returned.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(body))
    defer { context.release() }
    let threads = (0..<count).map { _ in
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            {
                Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().body()
                return nil
            }, context.toOpaque())
        precondition(result == 0, "no thread to be had")
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
}

private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
