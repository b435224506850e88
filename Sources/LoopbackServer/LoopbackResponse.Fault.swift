#if Networking
public import HTTPTypes

extension LoopbackResponse {
    /// A place in a response. In order: before the head, after it, after so many bytes of the body. A place behind the
    /// body's end stands for the end: all bytes are sent, but not what would mark the end.
    public enum Point: Sendable, Hashable {
        case beforeHead
        case afterHead
        case afterBody(Int64)

        /// -2 and -1 stand for the places before any byte of the body.
        var offset: Int64 {
            switch self {
            case .beforeHead: -2
            case .afterHead: -1
            case .afterBody(let count): max(0, count)
            }
        }
    }

    /// One thing that goes wrong with a response.
    public enum Fault: Sendable {
        /// The connection is closed in order (FIN; a close-notify before it under TLS). Over HTTP/2 a GOAWAY precedes.
        case closes(Point)
        /// The connection ends without the close-notify that TLS asks for; without TLS the same as `closes`.
        case hangsUp(Point)
        /// TCP reset (RST); over HTTP/2 the stream is reset with INTERNAL_ERROR, the connection stays.
        case resets(Point)
        /// TCP reset, whatever the protocol.
        case resetsConnection(Point)
        /// Nothing more is sent until the gate is open. The server waits no longer than the connection (HTTP/2: the
        /// stream) is there.
        case stalls(Point, until: LoopbackGate)
        /// The body comes in portions of so many bytes, one an interval, the first at once.
        case paces(bytes: Int, every: Duration)
        /// `Content-Length` says so, whatever is sent. The connection is closed after the body.
        case announces(length: Int64)
        /// Two `Content-Length` fields that say different things.
        case conflictingLengths
        /// A chunk whose size is no number. HTTP/1.1 with chunked framing; elsewhere the connection is closed.
        case malformedChunk(after: Int64)
        /// A status line that is none; over HTTP/2 a `:status` that is none.
        case malformedStatus
        /// A field with characters that no field may have.
        case malformedField
        /// A field whose value is so many bytes long.
        case oversizedField(bytes: Int)
        /// An interim response (1xx) before the head.
        case interim(HTTPResponse)
        /// `Connection: close`, and it is; over HTTP/2 a GOAWAY that lets this stream end.
        case goesAway

        /// The body ends early and the connection with it, in order.
        public static func truncates(after count: Int64) -> Fault { .closes(.afterBody(count)) }

        /// The connection is closed, and no byte was sent.
        public static let closesUnanswered = Fault.closes(.beforeHead)

        /// Faults after which no careful client has a response, for matrices. The body is to have `bodyLength` bytes, at
        /// least two, and not to end with the connection: such a body cannot be seen to be cut.
        public static func fatal(bodyLength: Int64) -> [Fault] {
            let points = [Point.beforeHead, .afterHead, .afterBody(bodyLength / 2)]
            return points.flatMap { [.closes($0), .hangsUp($0), .resets($0), .resetsConnection($0)] }
                + [
                    .announces(length: bodyLength + 1), .conflictingLengths, .malformedChunk(after: bodyLength / 2),
                    .malformedStatus, .malformedField,
                ]
        }
    }
}

extension LoopbackResponse.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .closes(let point): "closes \(point)"
        case .hangsUp(let point): "hangs up \(point)"
        case .resets(let point): "resets \(point)"
        case .resetsConnection(let point): "resets the connection \(point)"
        case .stalls(let point, _): "stalls \(point)"
        case .paces(let bytes, let interval): "sends \(bytes) bytes every \(interval)"
        case .announces(let length): "announces \(length) bytes"
        case .conflictingLengths: "announces two lengths"
        case .malformedChunk(let count): "a malformed chunk after \(count) bytes"
        case .malformedStatus: "a malformed status"
        case .malformedField: "a malformed field"
        case .oversizedField(let bytes): "a field of \(bytes) bytes"
        case .interim(let response): "an interim \(response.status.code)"
        case .goesAway: "goes away"
        }
    }
}

extension LoopbackResponse.Point: CustomStringConvertible {
    public var description: String {
        switch self {
        case .beforeHead: "before the head"
        case .afterHead: "after the head"
        case .afterBody(let count): "after \(count) bytes of the body"
        }
    }
}
#endif
