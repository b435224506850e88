import CProcess
import Glibc
import Synchronization
import SystemPackage

/// The tokens of a jobserver of GNU make. A command holds one while it runs.
///
/// One token is implied: it belongs to this process. All others are bytes in a pipe, which this process shares with other programs.
final class Jobserver: Sendable {
    /// The right to run one command.
    enum Token: Equatable, Sendable {
        case implied
        case byte(UInt8)
    }

    /// The jobserver of a make above this process cannot be used, because make has closed it for this recipe.
    struct Closed: Error {}

    private struct State {
        var isImpliedTaken = false
        var takenCount = 0
    }

    private let state = Mutex(State())
    /// The reading end, which does not block. Make shares its own end with other programs, whose reads may have to block.
    let reader: FileDescriptor
    private let writer: FileDescriptor
    /// The pipe to the process that gives the tokens back if this process is killed.
    private let guardian: FileDescriptor?
    /// The number of bytes in the pipe while no command runs. `nil` if another program has made the pipe.
    private let ownCount: Int?
    /// The value of `MAKEFLAGS` for commands. `nil` if they inherit the one of this process.
    let makeFlags: String?

    /// Connects to the jobserver of another program.
    ///
    /// - Throws: ``Closed``, or `Shortage`.
    init(_ address: JobserverAddress) throws {
        let readingEnd: Int32
        let writingEnd: Int32
        switch address {
        case .pipe(let reader, let writer):
            guard Self.isPipe(reader), Self.isPipe(writer) else { throw Closed() }
            // A new description of the same pipe: the flag must not change for the other programs.
            readingEnd = open("/proc/self/fd/\(reader)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            writingEnd = fcntl(writer, F_DUPFD_CLOEXEC, 3)
        case .fifo(let path):
            // With O_RDWR, the pipe never ends.
            readingEnd = path.withFileName { open($0, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
            guard readingEnd >= 0, Self.isPipe(readingEnd) else {
                if readingEnd >= 0 { close(readingEnd) }
                throw Closed()
            }
            writingEnd = fcntl(readingEnd, F_DUPFD_CLOEXEC, 3)
        }
        guard readingEnd >= 0, writingEnd >= 0 else { throw Shortage(errno, directory: "/proc") ?? .descriptors }
        (reader, writer) = (FileDescriptor(rawValue: readingEnd), FileDescriptor(rawValue: writingEnd))
        (ownCount, makeFlags) = (nil, nil)
        guardian = Self.startGuardian(writingEnd)
    }

    /// Makes a jobserver for the commands of this process.
    ///
    /// - Parameters:
    ///   - jobs: The number of commands and jobs of makes that run at a time, which is at least 1.
    ///   - flags: The value of `MAKEFLAGS` without the jobserver.
    /// - Throws: `Shortage`.
    init(jobs: Int, flags: String) throws {
        var ends: [Int32] = [-1, -1]
        // A pipe, because make before 4.4 stops with an error at the address of a fifo.
        guard cprocess_inherited_pipe(&ends) == 0 else { throw Shortage(errno, directory: "/") ?? .descriptors }
        let readingEnd = open("/proc/self/fd/\(ends[0])", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard readingEnd >= 0 else { throw Shortage(errno, directory: "/proc") ?? .descriptors }
        (reader, writer) = (FileDescriptor(rawValue: readingEnd), FileDescriptor(rawValue: ends[1]))
        // The system's pipes take 64 KiB, and a write beyond that would wait for a reader.
        let count = min(jobs - 1, 4096)
        ownCount = count
        guardian = nil
        makeFlags = (flags.isEmpty ? "" : flags + " ") + "-j\(count + 1) --jobserver-auth=\(ends[0]),\(ends[1])"
        fill()
    }

    /// Takes a token. `nil` if none is free now.
    func take() -> Token? {
        state.withLock { state in
            var token: Token?
            if !state.isImpliedTaken {
                state.isImpliedTaken = true
                token = .implied
            } else {
                var byte: UInt8 = 0
                while true {
                    let count = read(reader.rawValue, &byte, 1)
                    if count < 0, errno == EINTR { continue }
                    if count == 1 { token = .byte(byte) }
                    break
                }
                if case .byte(let byte)? = token { tell(UInt8(ascii: "+"), byte) }
            }
            if token != nil { state.takenCount += 1 }
            return token
        }
    }

    /// Gives a token back.
    func give(_ token: Token) {
        state.withLock { state in
            state.takenCount -= 1
            switch token {
            case .implied: state.isImpliedTaken = false
            case .byte(let byte):
                tell(UInt8(ascii: "-"), byte)
                put(byte)
            }
            if state.takenCount == 0 { fill() }
        }
    }

    /// Brings the number of bytes in an own pipe to its value. A make that was killed has not given its tokens back.
    private func fill() {
        guard let ownCount else { return }
        var count = Int(cprocess_available(reader.rawValue))
        var byte: UInt8 = 0
        while count > ownCount, read(reader.rawValue, &byte, 1) == 1 { count -= 1 }
        while count < ownCount {
            put(UInt8(ascii: "+"))
            count += 1
        }
    }

    private func put(_ byte: UInt8) {
        var byte = byte
        while write(writer.rawValue, &byte, 1) < 0, errno == EINTR || errno == EAGAIN {}
    }

    private func tell(_ change: UInt8, _ byte: UInt8) {
        guard let guardian else { return }
        let bytes = [change, byte]
        while write(guardian.rawValue, bytes, 2) < 0, errno == EINTR {}
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    private static func startGuardian(_ tokens: Int32) -> FileDescriptor? {
        var ends: [Int32] = [-1, -1]
        guard cprocess_output_pipe(&ends) == 0 else { return nil }
        let identifier = cprocess_guard(ends[0], tokens)
        close(ends[0])
        if identifier > 0 { return FileDescriptor(rawValue: ends[1]) }
        close(ends[1])
        return nil
    }
}
