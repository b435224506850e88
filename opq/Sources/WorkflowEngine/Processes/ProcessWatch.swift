import CProcess
import Glibc
import Operations
import Synchronization
import SystemPackage

/// Waits for the ends of commands, on one thread, and ends what has to end.
///
/// All signals to commands are sent by that thread, which also notices their ends and reaps them. So a signal reaches the group
/// of an unreaped leader, or one in which a process has just been seen: the system gives neither identifier to another process.
final class ProcessWatch: Sendable {
    /// Names a command, also after its identifier has been given to another process.
    struct Token: Hashable, Sendable { fileprivate let number: UInt64 }

    /// Called with how a command ended when nothing of its group is left.
    typealias Handler = @Sendable (ProcessEnd) -> Void
    /// Tries to start a command for which something was short, and answers whether that has been settled.
    ///
    /// The argument says that this is the last time: the attempt has to settle it, by failing if need be.
    typealias Attempt = @Sendable (_ isLast: Bool) -> Bool

    enum Message {
        case watch(CommandProcess, Token, Handler)
        case cancel(Token)
        case kill(Token)
        /// Stops all commands, and the time of their deadlines, then calls the closure.
        case pause(@Sendable () -> Void)
        /// Continues all commands and their time, then calls the closure.
        case resume(@Sendable () -> Void)
        case attempt(Attempt)
        case attemptNow
        case stop
    }

    private let nextNumber = Atomic<UInt64>(0)
    private let inbox = Mutex<[Message]>([])
    private let wakeReader: FileDescriptor
    private let wakeWriter: FileDescriptor

    /// A watch with its thread.
    ///
    /// - Parameter patience: How long something may be short while no command holds any of it. Longer than the scheduler keeps
    ///   threads that have nothing to do: they count as processes.
    /// - Throws: `Shortage` if there is no descriptor or no thread for it.
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

    /// A name for a command to be watched.
    func makeToken() -> Token { Token(number: nextNumber.add(1, ordering: .relaxed).newValue) }

    /// Has the thread do something. From any thread.
    func send(_ message: Message) {
        let isFirst = inbox.withLock { inbox in
            inbox.append(message)
            return inbox.count == 1
        }
        // A full pipe wakes the thread as well.
        if isFirst { _ = try? withUnsafeBytes(of: UInt8(0)) { try wakeWriter.write($0) } }
    }

    /// What was sent since the last call.
    func takeMessages() -> [Message] {
        inbox.withLock { inbox in
            // Under the lock: a message sent after this finds the pipe empty and the inbox too.
            var bytes = (UInt64(0), UInt64(0))
            _ = withUnsafeMutableBytes(of: &bytes) { read(wakeReader.rawValue, $0.baseAddress, $0.count) }
            defer { inbox.removeAll(keepingCapacity: true) }
            return inbox
        }
    }

    /// Becomes readable when there are messages.
    var wakeDescriptor: Int32 { wakeReader.rawValue }
}
