#if Networking
import HTTPCore
import HTTPTypes

/// What has become of a transfer so far.
struct TransferRecord: Sendable {
    /// The address asked last.
    var url: String
    var response: HTTPResponse?
    /// With which the body has begun, or gone on.
    var bodyHead: HTTPResponse?
    /// What comes now is the body of `bodyHead`.
    var isInBody = false
    var redirects: [String] = []
    var isFromCache = false
    var metrics = HTTPMetrics()
    /// When a byte last went either way, or an attempt began.
    var lastActivity = Duration.zero
    /// Somebody else than the server is waited for: a turn, a disk, a cap on bandwidth, a person who knows the password. So
    /// many at a time, for bodies may go both ways.
    var waitsForOthers = 0
    /// There is no room for more of the body until somebody reads what is there.
    var waitsForReader = false
    /// What earlier attempts took, from the limit for the whole.
    var spent = Duration.zero
    var received: Int64 = 0
    /// nil if the server has not said how much it sends.
    var expected: Int64?
    var sent: Int64 = 0
    var toSend: Int64?
    /// How many bodies have begun to be sent.
    var bodies = 0
    /// Of both ways.
    var meter = BandwidthMeter(slices: 10)
    /// The value is there.
    var isComplete = false

    init(url: String) { self.url = url }
}

/// What a transfer took (rule R5). Durations are of the session's clock.
///
/// Names, TCP and TLS are one figure: async-http-client does not tell them apart.
public struct HTTPMetrics: Sendable, Equatable {
    /// To have the connection of the last exchange: names, TCP and TLS; zero if it was there. Nil before its answer.
    public internal(set) var connect: Duration?
    /// Whether that had taken other requests before; nil before its answer.
    public internal(set) var isConnectionReused: Bool?
    /// From the request to the first byte of the response, of the last exchange.
    public internal(set) var firstByte: Duration?
    /// Of all attempts, pauses and waiting for a retry not counted.
    public internal(set) var total: Duration?
    /// Bytes of bodies, inflated.
    public internal(set) var received: Int64 = 0
    public internal(set) var sent: Int64 = 0
    public internal(set) var redirects = 0
    /// Requests sent, redirects and answers to challenges included.
    public internal(set) var exchanges = 0
    /// Times it was begun, or gone on with after a pause.
    public internal(set) var attempts = 0
}
#endif
