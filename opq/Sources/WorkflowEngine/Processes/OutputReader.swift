import CProcess
import Glibc
import SystemPackage

/// The reading ends of the pipes to which commands write. Only the thread of a `ProcessWatch` uses the object.
///
/// A process that has left the session of its command may keep the pipe open after the command has ended. Its later output is
/// discarded. If the pipe were closed, `SIGPIPE` would end that process.
final class OutputReader {
    /// The number of pipes of ended commands that stay open. Beyond that, the oldest one is closed.
    private static let restLimit = 32
    /// The number of chunks of 64 KiB that are read for one event.
    private static let readLimit = 16

    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private var events = [cprocess_event](repeating: cprocess_event(), count: 64)
    private var rests: [(token: ProcessWatch.Token, pipe: FileDescriptor)] = []

    deinit { chunk.deallocate() }

    /// Waits for events of descriptors, for at most `timeout` milliseconds; -1 means no limit.
    func wait(in set: FileDescriptor, timeout: Int32) -> ArraySlice<cprocess_event> {
        let count = cprocess_wait(set.rawValue, &events, Int32(events.count), timeout)
        return events.prefix(max(Int(count), 0))
    }

    /// Reads from a pipe that has an event.
    ///
    /// - Parameters:
    ///   - isReadable: Whether the pipe holds output. Otherwise a read could block.
    ///   - isAtEnd: Whether all writers have closed the pipe.
    /// - Returns: Whether the pipe has ended and was closed.
    func read(
        from pipe: FileDescriptor, of token: ProcessWatch.Token, as kind: EventTag.Kind = .output,
        into spool: (any OutputSink)?, in set: FileDescriptor, isReadable: Bool, isAtEnd: Bool
    ) -> Bool {
        var isEmpty = !isReadable
        // A command that writes without end must not keep the thread from the others.
        for _ in 0..<Self.readLimit where !isEmpty {
            let count = read(from: pipe, into: spool, atMost: chunk.count) ?? 0
            if count == 0 { return close(pipe) }
            // A read returns less only if the pipe is empty. A later write is a new event.
            isEmpty = count < chunk.count || !isAtEnd && cprocess_available(pipe.rawValue) == 0
        }
        if isEmpty, isAtEnd { return close(pipe) }
        if !isEmpty { _ = cprocess_change(set.rawValue, pipe.rawValue, EventTag(token, kind).value) }
        return false
    }

    private func close(_ pipe: FileDescriptor) -> Bool {
        try? pipe.close()
        return true
    }

    /// Reads the output that is in the pipe of an ended command. If another process still has the pipe open, its later output
    /// is discarded.
    func finish(
        _ pipe: FileDescriptor, of token: ProcessWatch.Token, into spool: (any OutputSink)?, in set: FileDescriptor
    ) {
        var left = Int(cprocess_available(pipe.rawValue))
        while left > 0, let count = read(from: pipe, into: spool, atMost: min(left, chunk.count)), count > 0 {
            left -= count
        }
        guard cprocess_change(set.rawValue, pipe.rawValue, EventTag(token, .rest).value) == 0 else {
            try? pipe.close()
            return
        }
        rests.append((token, pipe))
        if rests.count > Self.restLimit { try? rests.removeFirst().pipe.close() }
    }

    /// Discards output of an ended command.
    func discardRest(of token: ProcessWatch.Token, in set: FileDescriptor, isReadable: Bool) {
        // A command with a captured output has two pipes, and the event does not name its pipe.
        for rest in rests where rest.token == token && isReadable && cprocess_available(rest.pipe.rawValue) > 0 {
            _ = read(from: rest.pipe, into: nil, atMost: chunk.count)
            _ = cprocess_change(set.rawValue, rest.pipe.rawValue, EventTag(token, .rest).value)
        }
        rests.removeAll { rest in
            guard rest.token == token, Self.hasEnded(rest.pipe) else { return false }
            try? rest.pipe.close()
            return true
        }
    }

    /// Whether a pipe is empty and has no writer.
    private static func hasEnded(_ pipe: FileDescriptor) -> Bool {
        var state = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLIN) == 0 && state.revents & Int16(POLLHUP) != 0
    }

    /// Closes the pipes of ended commands.
    func closeAll() {
        for rest in rests { try? rest.pipe.close() }
        rests = []
    }

    private func read(from pipe: FileDescriptor, into spool: (any OutputSink)?, atMost limit: Int) -> Int? {
        guard let count = try? pipe.read(into: UnsafeMutableRawBufferPointer(rebasing: chunk[..<limit])) else {
            return nil
        }
        if count > 0 { spool?.append(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
        return count
    }
}
