#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A thread that belongs to the test and to no queue. `join()` waits for its end.
package final class TestThread: Sendable {
    private let end = Gate()

    package init(_ body: @escaping @Sendable () -> Void) {
        let end = end
        let start = Unmanaged.passRetained(
            Start {
                body()
                end.open()
            })
        #if canImport(Darwin)
        var thread: pthread_t?
        let result = pthread_create(&thread, nil, { TestThread.run($0) }, start.toOpaque())
        if let thread, result == 0 { pthread_detach(thread) }
        #else
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { TestThread.run($0!) }, start.toOpaque())
        if result == 0 { pthread_detach(thread) }
        #endif
        precondition(result == 0, "the thread could not be created")
    }

    package func join() { end.pass() }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.body()
        return nil
    }
}
