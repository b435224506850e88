#if Networking
import HTTPCore
import HTTPTypes
public import NIOCore
import Operations

/// The body of a response as it comes, in portions of the server's and the network's making (rule R5).
///
/// At most 256 KiB wait to be taken; then the server is not read from until some are. One task may iterate, once. Who stops
/// iterating cancels the operation.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    let channel: BodyChannel

    public func makeAsyncIterator() -> Iterator { Iterator(channel) }

    public final class Iterator: AsyncIteratorProtocol {
        private let channel: BodyChannel

        init(_ channel: BodyChannel) {
            self.channel = channel
            channel.readerHasCome()
        }

        deinit { channel.readerIsGone() }

        /// - Throws: `HTTPError`, when the transfer ends otherwise than well.
        public func next() async throws -> ByteBuffer? { try await channel.next() }
    }
}

/// Between the transfer, which writes, and the one task that reads.
final class BodyChannel: BodySink {
    static let capacity = 256 << 10

    private struct State {
        /// Portions that wait to be taken, and how many bytes they are. Small ones are put together: else a server that
        /// sends single bytes makes hundreds of thousands of them.
        private(set) var waiting: [ByteBuffer] = []
        private(set) var waitingBytes = 0
        /// Given to the reader, or waiting for it.
        var count: Int64 = 0
        var point: ResumePoint?
        /// Where the bytes come from: a tag says something about one address only.
        var source: HTTPAddress?
        var end: Result<Void, any Error>?
        var isAttended = false
        var isAbandoned = false
        var reader: CheckedContinuation<ByteBuffer?, any Error>?
        var writer: CheckedContinuation<Void, Never>?
        var whenAbandoned: (@Sendable () -> Void)?

        var hasRoom: Bool { waitingBytes < BodyChannel.capacity || isAbandoned }

        mutating func append(_ portion: ByteBuffer) {
            waitingBytes += portion.readableBytes
            if let last = waiting.indices.last, waiting[last].readableBytes + portion.readableBytes <= 16 << 10 {
                waiting[last].writeImmutableBuffer(portion)
            } else {
                waiting.append(portion)
            }
        }

        mutating func removeFirst() -> ByteBuffer {
            let first = waiting.removeFirst()
            waitingBytes -= first.readableBytes
            return first
        }

        mutating func removeAll() { (waiting, waitingBytes) = ([], 0) }
    }

    private let state = Locked(State())

    let prefersRanges = true

    func resumePoint(for address: HTTPAddress) -> ResumePoint? {
        state.withLock { address == $0.source ? $0.point?.after($0.count) : nil }
    }

    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) throws {
        let isContinued = state.withLock { state in
            if offset == 0, state.count == 0 { (state.point, state.source) = (ResumePoint(beginning: head), address) }
            return offset == state.count
        }
        // What was taken cannot be taken back.
        if !isContinued { throw TransferFailure(.notContinued) }
    }

    var mayBeginAnew: Bool { state.withLock { $0.count == 0 } }

    func finish() { end(.success(())) }

    func forget() throws { if state.withLock({ $0.count > 0 }) { throw TransferFailure(.notContinued) } }

    /// Called once, when the reader has had enough.
    func setAbandonHandler(_ handler: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isAbandoned { state.whenAbandoned = handler }
            return state.isAbandoned
        }
        if isLate { handler() }
    }

    // MARK: - Writing

    func write(_ bytes: ByteBuffer) {
        let reader = state.withLock { state -> CheckedContinuation<ByteBuffer?, any Error>? in
            // Nobody will take it, and who writes is told to stop.
            if state.isAbandoned { return nil }
            state.count += Int64(bytes.readableBytes)
            if let reader = state.reader.take() { return reader }
            state.append(bytes)
            return nil
        }
        reader?.resume(returning: bytes)
    }

    var hasRoom: Bool { state.withLock { $0.hasRoom } }

    func untilRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.hasRoom || Task.isCancelled { return true }
                    state.writer = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.writer.take() }?.resume()
        }
    }

    /// The operation has ended: with all of the body, or for this reason.
    func end(_ result: Result<Void, any Error>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = result }
            state.whenAbandoned = nil
            return state.reader.take()
        }
        reader?.resume(with: result.map { nil })
    }

    // MARK: - Reading

    /// A stream that nobody has begun to read is nobody's slowness: it ends by the time-out.
    var isAttended: Bool { state.withLock { $0.isAttended } }

    func readerHasCome() { state.withLock { $0.isAttended = true } }

    func next() async throws -> ByteBuffer? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (answer, writer) = state.withLock {
                    state -> (Result<ByteBuffer?, any Error>?, CheckedContinuation<Void, Never>?) in
                    if !state.waiting.isEmpty {
                        let first = state.removeFirst()
                        return (.success(first), state.hasRoom ? state.writer.take() : nil)
                    }
                    if let end = state.end { return (end.map { nil }, nil) }
                    if Task.isCancelled { return (.failure(CancellationError()), nil) }
                    state.reader = continuation
                    return (nil, nil)
                }
                writer?.resume()
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(throwing: CancellationError())
        }
    }

    func abandon(_ failure: any Error) { end(.failure(failure)) }

    func readerIsGone() {
        let (handler, writer) = state.withLock { state in
            (state.isAbandoned, state.isAttended) = (true, false)
            state.removeAll()
            return (state.whenAbandoned.take(), state.writer.take())
        }
        writer?.resume()
        handler?()
    }
}

extension Optional {
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
#endif
