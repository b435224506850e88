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

    /// - Parameter stackSize: In bytes; nil for the system's choice.
    package init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let end = end
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let start = Unmanaged.passRetained(
            Start {
                body()
                end.open()
            })
        #if canImport(Darwin)
        var thread: pthread_t?
        let result = pthread_create(&thread, &attributes, { TestThread.run($0) }, start.toOpaque())
        if let thread, result == 0 { pthread_detach(thread) }
        #else
        var thread = pthread_t()
        let result = pthread_create(&thread, &attributes, { TestThread.run($0!) }, start.toOpaque())
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
