import HTTPCore
import NIOCore
import Operations

/// A request body that is produced while it is sent: an asynchronous sequence of portions. The connection requests the next
/// portion when it has accepted the previous one.
///
/// The body can be sent once. A redirect that keeps the method, a challenge, a pause or a retry needs the body a second time.
/// The request then fails with `HTTPError.Reason.bodyNotRepeatable`, and so does a copy of the operation. An error of the
/// sequence ends the request.
public final class HTTPBodySource: Sendable {
    /// The length in bytes; nil if it is unknown. The body is then sent in chunks.
    public let length: Int64?
    private let stream: @Sendable (Sending) -> OutgoingStream
    private let isTaken = Locked(false)

    /// Creates a body from collections of bytes, such as arrays, `Data`, or the chunks of another body. Chunks are sent
    /// without a copy.
    ///
    /// - Parameters:
    ///   - portions: The sequence of portions. One task iterates the sequence, at most once. The end of the request
    ///     cancels the task.
    ///   - length: The length of all portions together, in bytes. The request fails if the actual length differs.
    public convenience init<Portions: AsyncSequence & Sendable>(_ portions: Portions, length: Int64? = nil)
    where Portions.Element: Collection<UInt8> & Sendable {
        self.init(buffers: portions.map { @Sendable in HTTPBodyChunk.buffer(of: $0) }, length: length)
    }

    init<Portions: AsyncSequence & Sendable>(buffers portions: Portions, length: Int64? = nil)
    where Portions.Element == ByteBuffer {
        self.length = length
        stream = { sending in
            let relay = PortionRelay()
            return OutgoingStream(
                DetachedPortions(base: portions, relay: relay), length: length, sending, stop: { relay.stop() })
        }
    }

    /// Returns the stream for one exchange.
    ///
    /// - Throws: `bodyNotRepeatable` from the second call on.
    func take(_ sending: Sending) throws -> OutgoingStream {
        let isSecond = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        if isSecond { throw TransferFailure(.bodyNotRepeatable) }
        return stream(sending)
    }
}
