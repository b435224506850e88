import Glibc
import Synchronization

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

/// Calls `body` so many times in all, on one thread for each core; each takes the next call when it is done with one.
func onEveryCore(times count: Int, _ body: @escaping @Sendable () -> Void) {
    let begun = Counter()
    onThreads(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
        while begun.value.wrappingAdd(1, ordering: .relaxed).oldValue < count { body() }
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}

private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
