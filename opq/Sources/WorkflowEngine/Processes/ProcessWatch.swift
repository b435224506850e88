import CProcess
import Glibc
import Operations
import Synchronization
import SystemPackage

/// A thread that waits for the output and the ends of commands, and ends commands that must end.
///
/// Only this thread sends signals to commands, notices their ends and reaps them. Therefore a signal reaches only a group
/// whose leader is not reaped, or a group that was just seen to contain a process. The system does not reuse the identifier
/// of either group.
final class ProcessWatch: Sendable {
    /// An identifier of a command, which stays valid after the system reuses the process identifier.
    struct Token: Hashable, Sendable {
        /// A number that is at least 1.
        let number: UInt64
    }

    /// A command, and the actions of its owner.
    struct Watched: Sendable {
        let process: CommandProcess
        /// The end of the pipe that holds the output of the command. `nil` if no output is read.
        var pipe: FileDescriptor?
        /// The output so far.
        var spool: OutputSpool?
        /// The end of the pipe that holds the captured standard output. `nil` if the output is not captured.
        var capturePipe: FileDescriptor?
        var capture: CapturedOutput?
        /// The time that processes get to end after the request to end.
        var grace = ProcessGroup.grace
        /// The longest running time. `nil` if the command has no time limit.
        var limit: Duration?
        /// A function that receives the end of the command when its group is empty or was killed.
        let handler: @Sendable (CommandEnd) -> Void
    }

    /// A function that tries to start a command that waits for a short resource. The function returns whether it started the
    /// command or reported a failure.
    ///
    /// The argument is `true` for the last attempt, which must not return `false`.
    typealias Attempt = @Sendable (_ isLast: Bool) -> Bool

    enum Message {
        case watch(Watched, Token)
        /// Looks at a command from time to time, because the system reports no events of it.
        case poll(Token)
        /// Sends a signal to a command, which has to end.
        case end(Token, signal: Int32)
        case kill(Token)
        /// Stops all commands and the time of their deadlines, and then calls the closure.
        case pause(@Sendable () -> Void)
        /// Continues all commands and their time, and then calls the closure.
        case resume(@Sendable () -> Void)
        case attempt(Attempt)
        case attemptNow
        /// Calls the closure after a time of the running clock, or as soon as the token's command has to end.
        case wait(Token, Duration, @Sendable () -> Void)
        /// Sends a signal to the orphans that this process has adopted.
        case endOrphans(signal: Int32)
        /// Waits until no orphan is left, kills those that do not end in time, and then calls the closure.
        case awaitOrphans(@Sendable () -> Void)
        case stop
    }

    private struct Inbox {
        var messages: [Message] = []
        var isWoken = false
    }

    private let nextNumber = Atomic<UInt64>(0)
    private let inbox = Mutex(Inbox())
    private let wakeReader: FileDescriptor
    private let wakeWriter: FileDescriptor
    private let null: FileDescriptor
    /// The descriptors that the thread waits for. Other threads add those of the commands that they start.
    let events: FileDescriptor
    /// The number of threads that are starting a command. An ended child may be one of those commands.
    let startingCount = Atomic<Int>(0)
    /// The leaders of commands that are not reaped.
    let leaders = Mutex<Set<pid_t>>([])
    /// The jobserver of which commands take tokens. Set before the first command.
    let jobserver = Mutex<Jobserver?>(nil)

    /// Creates a watch and starts its thread.
    ///
    /// - Parameters:
    ///   - patience: The longest wait for a short resource while no command holds any of it. The value is longer than the
    ///     scheduler keeps idle threads, because idle threads count as processes.
    ///   - adoptsOrphans: Whether this process reaps the orphans of commands, and ends them when the run is cancelled. Every
    ///     child process must belong to the run then.
    /// - Throws: `Shortage` if the system has no descriptor or no thread for the watch.
    init(patience: Duration = .seconds(10), adoptsOrphans: Bool = false) throws(Shortage) {
        var ends: [Int32] = [-1, -1]
        guard cprocess_pipe(&ends) == 0 else { throw Shortage(errno, directory: "/") ?? .descriptors }
        wakeReader = FileDescriptor(rawValue: ends[0])
        wakeWriter = FileDescriptor(rawValue: ends[1])
        events = FileDescriptor(rawValue: cprocess_poll_set())
        null = FileDescriptor(rawValue: open("/dev/null", O_RDONLY | O_CLOEXEC))
        guard events.rawValue >= 0, null.rawValue >= 0, cprocess_add(events.rawValue, wakeReader.rawValue, 0) == 0
        else {
            throw Shortage(errno, directory: "/dev") ?? .descriptors
        }
        let loop = ProcessWatchLoop(self, patience: patience, adoptsOrphans: adoptsOrphans)
        guard startThread(named: "opq-processes", { loop.run() }) else { throw .processes }
    }

    deinit {
        for descriptor in [wakeReader, wakeWriter, events, null] where descriptor.rawValue >= 0 {
            try? descriptor.close()
        }
    }

    /// Returns a new identifier for a command.
    func makeToken() -> Token { Token(number: nextNumber.add(1, ordering: .relaxed).newValue) }

    /// Has commands take tokens of a jobserver. The thread also waits for tokens that other programs give back.
    func use(_ jobserver: Jobserver) {
        self.jobserver.withLock { $0 = jobserver }
        _ = cprocess_add(events.rawValue, jobserver.reader.rawValue, EventTag.tokens.value)
    }

    /// Starts the command of an operation and watches it.
    ///
    /// - Parameters:
    ///   - terminal: The terminal of this process, for a command that gets it.
    ///   - niceness: The number to add to the nice value of this thread.
    ///   - watched: Receives the process and returns the command with the actions of its owner.
    /// - Throws: The errors of `CommandProcess`.
    func start(
        _ operation: PlannedOperation, as token: Token, niceness: Int32 = 0, terminal: TerminalHandover? = nil,
        watched: (CommandProcess) -> Watched
    ) throws {
        let captures = operation.settings.capture != nil
        let output = terminal == nil ? try Pipe() : nil
        var capture: Pipe?
        var command: Watched
        do {
            if captures { capture = try Pipe() }
            defer {
                output?.closeWriter()
                capture?.closeWriter()
            }
            var streams = CommandProcess.Streams(
                input: terminal?.input ?? null, output: capture?.writer ?? output?.writer ?? terminal?.output ?? null,
                errors: output?.writer ?? terminal?.errors ?? null)
            if let terminal { streams.place = terminal.begin(operation) }
            startingCount.add(1, ordering: .sequentiallyConsistent)
            defer { startingCount.subtract(1, ordering: .sequentiallyConsistent) }
            let flags = jobserver.withLock { $0?.makeFlags }
            let process = try CommandProcess(operation, streams, makeFlags: flags)
            process.addNiceness(niceness)
            leaders.withLock { _ = $0.insert(process.identifier) }
            terminal?.started(process)
            command = watched(process)
        } catch {
            output?.closeReader()
            capture?.closeReader()
            _ = terminal?.ended(nil)
            throw error
        }
        (command.pipe, command.capturePipe) = (output?.reader, capture?.reader)
        watch(command, as: token)
    }

    /// A pipe for the output of a command.
    private struct Pipe {
        let reader, writer: FileDescriptor

        init() throws(Shortage) {
            var ends: [Int32] = [-1, -1]
            guard cprocess_output_pipe(&ends) == 0 else { throw Shortage(errno, directory: "/") ?? .descriptors }
            (reader, writer) = (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
        }

        func closeReader() { try? reader.close() }

        func closeWriter() { try? writer.close() }
    }

    /// Watches a command.
    func watch(_ command: Watched, as token: Token) {
        // The thread must know the command before its descriptors have events.
        post(.watch(command, token))
        var isPolled = command.process.descriptor == nil
        let descriptors = [
            (command.pipe, EventTag.Kind.output), (command.capturePipe, .capture), (command.process.descriptor, .end),
        ]
        for (descriptor, kind) in descriptors {
            guard let descriptor else { continue }
            let tag = EventTag(token, kind).value
            if cprocess_add(events.rawValue, descriptor.rawValue, tag) != 0 { isPolled = true }
        }
        if isPolled { send(.poll(token)) } else if command.limit != nil { wake() }
    }

    /// Sends a message to the thread. Any thread may call this method.
    func send(_ message: Message) {
        post(message)
        wake()
    }

    private func post(_ message: Message) { inbox.withLock { $0.messages.append(message) } }

    private func wake() {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isWoken = true }
            return !inbox.isWoken
        }
        // The write may fail if the pipe is full, but a full pipe wakes the thread as well.
        if isFirst { _ = try? withUnsafeBytes(of: UInt8(0)) { try wakeWriter.write($0) } }
    }

    /// Returns the messages that were sent since the last call.
    func takeMessages(isWoken: Bool) -> [Message] {
        inbox.withLock { inbox in
            // The pipe is emptied under the lock. Otherwise the read could consume the byte of a message that is sent after
            // the inbox is emptied.
            if isWoken {
                var bytes = (UInt64(0), UInt64(0))
                _ = withUnsafeMutableBytes(of: &bytes) { read(wakeReader.rawValue, $0.baseAddress, $0.count) }
                inbox.isWoken = false
            }
            defer { inbox.messages.removeAll(keepingCapacity: true) }
            return inbox.messages
        }
    }
}

/// The end of a command and of its group.
struct CommandEnd: Equatable, Sendable {
    /// How the command ended.
    let end: ProcessEnd
    /// Whether the time limit ended the command.
    let hasTimedOut: Bool
}

/// The number that the system returns with an event of a descriptor.
struct EventTag: Equatable {
    enum Kind: UInt64 { case output, end, rest, capture }

    /// The tag of the tokens of a jobserver. No command has the number 0.
    static let tokens = EventTag(ProcessWatch.Token(number: 0), .rest)

    let token: ProcessWatch.Token
    let kind: Kind

    init(_ token: ProcessWatch.Token, _ kind: Kind) { (self.token, self.kind) = (token, kind) }

    /// Creates the tag of a number. `nil` for 0, which stands for a wake-up.
    init?(value: UInt64) {
        guard value > 0, let kind = Kind(rawValue: value & 3) else { return nil }
        self.init(ProcessWatch.Token(number: value >> 2), kind)
    }

    /// The number, which is not 0.
    var value: UInt64 { token.number << 2 | kind.rawValue }
}
