import CPlatform
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension OperationQueue {
    /// Prints ``explainAll()`` at each signal of a kind, in place of the action of the system. The text goes where stall reports without
    /// a handler go: to standard error, or to a logger.
    ///
    /// ```swift
    /// OperationQueue.printExplanations(onSignal: SIGQUIT)
    /// ```
    ///
    /// From then on, Control-\ in a terminal and `kill -QUIT` show the state of the program, and do not end it. The text comes from a
    /// thread that the first call starts, so it also comes while all threads of the pools and of Dispatch hang. The call replaces a
    /// handler that the program has installed.
    ///
    /// - Returns: Whether the signal is handled. SIGKILL and SIGSTOP cannot be.
    @discardableResult
    public static func printExplanations(onSignal signal: Int32) -> Bool {
        guard let descriptor = SignalReader.descriptor else { return false }
        return cplatform_write_at_signal(signal, descriptor)
    }
}

/// The thread that explains, and the pipe to it from the handler of signals.
private enum SignalReader {
    /// The end of the pipe for writing; nil if the process has no descriptor or no thread left.
    static let descriptor: Int32? = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let isStarted = cplatform_start_thread(
            { serve(Int32(Int(bitPattern: $0))) }, UnsafeMutableRawPointer(bitPattern: Int(ends[0])))
        guard isStarted else {
            for end in ends { _ = close(end) }
            return nil
        }
        return ends[1]
    }()

    private static func serve(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64)
        // Several signals that have arrived meanwhile need one text.
        while bytes.withUnsafeMutableBytes({ readAgain(descriptor, into: $0) }) > 0 {
            Log.warning("the queues of the process:\n\(OperationQueue.explainAll())")
        }
    }

    private static func readAgain(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Darwin)
            let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
