#if Networking
import HTTPCore
public import NIOCore
import Operations

/// A request's body that is made as it is sent: an asynchronous sequence of portions (rule R5). The next portion is asked for
/// when the connection has taken the one before.
///
/// It can be sent once. A request that would have to send it again, for a redirect that keeps the method, for credentials, after
/// a pause or for another try, fails with `HTTPError.Reason.bodyNotRepeatable`; so does a copy of the operation. What the
/// sequence throws ends the request.
public final class HTTPBodySource: Sendable {
    /// In bytes; nil if nobody knows, then the body is sent in chunks.
    public let length: Int64?
    private let stream: @Sendable (Sending) -> OutgoingStream
    private let isTaken = Locked(false)

    /// - Parameters:
    ///   - portions: Iterated by one task, at most once.
    ///   - length: Of all portions together. If they are more or fewer bytes, the request fails.
    public init<Portions: AsyncSequence & Sendable>(_ portions: Portions, length: Int64? = nil)
    where Portions.Element == ByteBuffer {
        self.length = length
        stream = { OutgoingStream(portions, length: length, $0) }
    }

    /// The same of portions that are collections of bytes, such as arrays or `Data`.
    public convenience init<Portions: AsyncSequence & Sendable>(_ portions: Portions, length: Int64? = nil)
    where Portions.Element: Collection<UInt8> & Sendable {
        self.init(portions.map { @Sendable in ByteBuffer(bytes: $0) }, length: length)
    }

    /// - Throws: `bodyNotRepeatable` from the second time on.
    func take(_ sending: Sending) throws -> OutgoingStream {
        let isSecond = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        if isSecond { throw TransferFailure(.bodyNotRepeatable) }
        return stream(sending)
    }
}
#endif
