import HTTPCore
import HTTPTypes

/// The record of a transfer so far.
struct TransferRecord: Sendable {
    /// The address of the latest request.
    var url: String
    var response: HTTPResponse?
    /// The head of the response whose body is being received or continued.
    var bodyHead: HTTPResponse?
    /// Whether the incoming bytes are the body of `bodyHead`.
    var isInBody = false
    var redirects: [String] = []
    var isFromCache = false
    var metrics = HTTPMetrics()
    /// The time of the latest byte in either direction, or of the attempt's beginning.
    var lastActivity = Duration.zero
    /// The number of waits for other causes than the server: a turn, a disk, a bandwidth cap, or a source of credentials.
    /// Bodies in both directions can wait at the same time.
    var waitsForOthers = 0
    /// Whether the transfer waits for the consumer of the body.
    var waitsForReader = false
    /// The time that earlier attempts took, which counts against the limit for the whole transfer.
    var spent = Duration.zero
    var received: Int64 = 0
    /// The total length; nil if the server does not state it.
    var expected: Int64?
    /// The progress of the request body: the largest part of it that one exchange has sent. It never decreases, and never
    /// exceeds `toSend`, although each exchange sends the body from its beginning.
    private(set) var sent: Int64 = 0
    private(set) var toSend: Int64?
    /// The number of request bodies that have begun.
    private var bodies = 0
    /// The bytes of the latest body that its exchange has sent.
    private var sentOfBody: Int64 = 0
    /// The rate in both directions.
    var meter = BandwidthMeter(slices: 10)
    /// Whether the value is available.
    var isComplete = false

    init(url: String) { self.url = url }

    /// Begins the body of another exchange, and returns the number of the body.
    mutating func beginBody(length: Int64?) -> Int {
        (bodies, sentOfBody, toSend) = (bodies + 1, 0, length)
        // A file may have become shorter since the last exchange.
        sent = min(sent, length ?? .max)
        return bodies
    }

    /// Counts sent bytes of a body. Returns false, and has no effect, if another body has begun meanwhile.
    mutating func sent(_ count: Int, ofBody number: Int, at nanoseconds: UInt64) -> Bool {
        guard bodies == number else { return false }
        sentOfBody += Int64(count)
        // A sequence may be longer than announced, until the request fails for this reason.
        sent = max(sent, min(sentOfBody, toSend ?? .max))
        metrics.sent += Int64(count)
        meter.record(count, at: nanoseconds)
        return true
    }
}

/// Measurements of a transfer. Durations are those of the session's clock.
///
/// Name resolution, TCP and TLS are one figure, because async-http-client does not distinguish them.
public struct HTTPMetrics: Sendable, Equatable {
    /// The time to establish the connection of the last exchange: name resolution, TCP and TLS. Zero for a reused connection,
    /// and nil before the response.
    public internal(set) var connect: Duration?
    /// Whether the last exchange reused a connection; nil before the response.
    public internal(set) var isConnectionReused: Bool?
    /// The time from the request to the first byte of the response, in the last exchange.
    public internal(set) var firstByte: Duration?
    /// The time of all attempts, without pauses and retry delays.
    public internal(set) var total: Duration?
    /// The number of received body bytes, after decompression.
    public internal(set) var received: Int64 = 0
    /// The number of sent body bytes of all exchanges. A challenge, a redirect or a retry can send a body again.
    public internal(set) var sent: Int64 = 0
    /// The number of redirects.
    public internal(set) var redirects = 0
    /// The number of requests sent, including those after redirects and challenges.
    public internal(set) var exchanges = 0
    /// The number of attempts, including those after a pause.
    public internal(set) var attempts = 0
}
