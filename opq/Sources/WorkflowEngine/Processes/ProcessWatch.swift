import CProcess
import Glibc
import Operations
import Synchronization
import SystemPackage

/// A thread that waits for the ends of commands, and ends commands that must end.
///
/// Only this thread sends signals to commands, notices their ends and reaps them. Therefore a signal reaches only a group
/// whose leader is not reaped, or a group that was just seen to contain a process. The system does not reuse the identifier
/// of either group.
final class ProcessWatch: Sendable {
    /// An identifier of a command, which stays valid after the system reuses the process identifier.
    struct Token: Hashable, Sendable { fileprivate let number: UInt64 }

    /// A function that receives the end of a command when its group is empty or was killed.
    typealias Handler = @Sendable (ProcessEnd) -> Void
    /// A function that tries to start a command that waits for a short resource. The function returns whether it started the
    /// command or reported a failure.
    ///
    /// The argument is `true` for the last attempt, which must not return `false`.
    typealias Attempt = @Sendable (_ isLast: Bool) -> Bool

    enum Message {
        case watch(CommandProcess, Token, Handler)
        case cancel(Token)
        case kill(Token)
        /// Stops all commands and the time of their deadlines, and then calls the closure.
        case pause(@Sendable () -> Void)
        /// Continues all commands and their time, and then calls the closure.
        case resume(@Sendable () -> Void)
        case attempt(Attempt)
        case attemptNow
        case stop
    }

    private let nextNumber = Atomic<UInt64>(0)
    private let inbox = Mutex<[Message]>([])
    private let wakeReader: FileDescriptor
    private let wakeWriter: FileDescriptor

    /// Creates a watch and starts its thread.
    ///
    /// - Parameter patience: The longest wait for a short resource while no command holds any of it. The value is longer
    ///   than the scheduler keeps idle threads, because idle threads count as processes.
    /// - Throws: `Shortage` if the system has no descriptor or no thread for the watch.
    init(patience: Duration = .seconds(10)) throws(Shortage) {
        var ends: [Int32] = [-1, -1]
        guard cprocess_pipe(&ends) == 0 else { throw Shortage(errno, directory: "/") ?? .descriptors }
        wakeReader = FileDescriptor(rawValue: ends[0])
        wakeWriter = FileDescriptor(rawValue: ends[1])
        let loop = ProcessWatchLoop(self, patience: patience)
        guard startThread(named: "opq-processes", { loop.run() }) else { throw .processes }
    }

    deinit {
        try? wakeReader.close()
        try? wakeWriter.close()
    }

    /// Returns a new identifier for a command.
    func makeToken() -> Token { Token(number: nextNumber.add(1, ordering: .relaxed).newValue) }

    /// Sends a message to the thread. Any thread may call this method.
    func send(_ message: Message) {
        let isFirst = inbox.withLock { inbox in
            inbox.append(message)
            return inbox.count == 1
        }
        // The write may fail if the pipe is full, but a full pipe wakes the thread as well.
        if isFirst { _ = try? withUnsafeBytes(of: UInt8(0)) { try wakeWriter.write($0) } }
    }

    /// Returns the messages that were sent since the last call.
    func takeMessages() -> [Message] {
        inbox.withLock { inbox in
            // The pipe is emptied under the lock. Otherwise the read could consume the byte of a message that is sent after
            // the inbox is emptied.
            var bytes = (UInt64(0), UInt64(0))
            _ = withUnsafeMutableBytes(of: &bytes) { read(wakeReader.rawValue, $0.baseAddress, $0.count) }
            defer { inbox.removeAll(keepingCapacity: true) }
            return inbox
        }
    }

    /// A descriptor that becomes readable when messages arrive.
    var wakeDescriptor: Int32 { wakeReader.rawValue }
}
