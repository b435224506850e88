import HTTPCore
import HTTPTypes
import NIOCore
import Operations

/// The body of a response as a sequence of chunks. The server and the network determine the size of the chunks.
///
/// At most 256 KiB wait for the consumer, and then the transfer stops reading from the server. One task may iterate, once.
/// Ending the iteration early, or cancelling the task, cancels the operation.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    public typealias Element = HTTPBodyChunk

    let channel: BodyChannel

    public func makeAsyncIterator() -> Iterator { Iterator(channel) }

    /// The iterator of a response body.
    public final class Iterator: AsyncIteratorProtocol {
        private let channel: BodyChannel

        init(_ channel: BodyChannel) {
            self.channel = channel
            channel.readerHasCome()
        }

        deinit { channel.readerIsGone() }

        /// Returns the next chunk; nil at the end of the body.
        ///
        /// - Throws: `HTTPError`, if the transfer fails or is cancelled; `CancellationError`, if the calling task is cancelled.
        public func next() async throws -> HTTPBodyChunk? { try await channel.next().map(HTTPBodyChunk.init(_:)) }
    }
}

/// The channel between the transfer, which writes, and the one task that reads.
final class BodyChannel: BodySink {
    static let capacity = 256 << 10

    private struct State {
        /// The waiting portions. Small portions are joined, because a server that sends single bytes would otherwise create
        /// hundreds of thousands of them.
        private(set) var waiting: [ByteBuffer] = []
        private(set) var waitingBytes = 0
        /// The number of bytes that were given to the reader or wait for the reader.
        var count: Int64 = 0
        var point: ResumePoint?
        /// The address of the bytes. An entity tag is valid for one address only.
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
        // Bytes that the reader has received cannot be replaced.
        if !isContinued { throw TransferFailure(.resumeFailed) }
    }

    var mayBeginAnew: Bool { state.withLock { $0.count == 0 } }

    func finish() { end(.success(())) }

    func forget() throws { if state.withLock({ $0.count > 0 }) { throw TransferFailure(.resumeFailed) } }

    /// Sets the function that is called once when the reader stops early.
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
            // The reader has stopped, and the abandon handler stops the writer.
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
                let mayContinue = state.withLock { state in
                    if state.hasRoom || Task.isCancelled { return true }
                    state.writer = continuation
                    return false
                }
                if mayContinue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.writer.take() }?.resume()
        }
    }

    /// Ends the body: completely, or with an error.
    func end(_ result: Result<Void, any Error>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = result }
            state.whenAbandoned = nil
            return state.reader.take()
        }
        reader?.resume(with: result.map { nil })
    }

    // MARK: - Reading

    /// Whether a reader exists. Without a reader, the idle time limit ends the transfer.
    var isAttended: Bool { state.withLock { $0.isAttended } }

    func readerHasCome() { state.withLock { $0.isAttended = true } }

    func next() async throws -> ByteBuffer? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (answer, writer) = state.withLock {
                    state -> (Result<ByteBuffer?, any Error>?, CheckedContinuation<Void, Never>?) in
                    // First, because `readerIsGone` discards the waiting portions, and the body would seem to end here.
                    if Task.isCancelled { return (.failure(CancellationError()), nil) }
                    if !state.waiting.isEmpty {
                        let first = state.removeFirst()
                        return (.success(first), state.hasRoom ? state.writer.take() : nil)
                    }
                    if let end = state.end { return (end.map { nil }, nil) }
                    state.reader = continuation
                    return (nil, nil)
                }
                writer?.resume()
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(throwing: CancellationError())
            readerIsGone()
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
