import Glibc
import Synchronization

/// Runs `body` on `count` threads at the same time, and returns when all have returned.
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
        precondition(result == 0, "the thread could not be created")
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
}

/// Calls `body` `count` times in total, on one thread per core. Each thread makes its next call after the previous one.
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
