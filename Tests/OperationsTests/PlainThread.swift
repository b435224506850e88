#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A thread that no queue knows.
final class PlainThread: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func start() {
        let retained = Unmanaged.passRetained(self).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let result = pthread_create(&thread, nil, { PlainThread.run($0) }, retained)
            if let thread, result == 0 { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let result = pthread_create(&thread, nil, { PlainThread.run($0!) }, retained)
            if result == 0 { pthread_detach(thread) }
        #endif
    }

    private static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<PlainThread>.fromOpaque(argument).takeRetainedValue().body()
        return nil
    }
}
