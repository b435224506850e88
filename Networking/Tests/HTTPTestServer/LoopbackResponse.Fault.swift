public import HTTPTypes

extension LoopbackResponse {
    /// A position in a response, in order: before the head, after the head, or after a number of bytes of the body. A
    /// position after the end of the body means the end. The server then sends all bytes but does not mark the end.
    public enum Point: Sendable, Hashable {
        case beforeHead
        case afterHead
        case afterBody(Int64)

        /// The position as an offset in the body. The values -2 and -1 are positions before the first byte of the body.
        var offset: Int64 {
            switch self {
            case .beforeHead: -2
            case .afterHead: -1
            case .afterBody(let count): max(0, count)
            }
        }
    }

    /// A fault of a response.
    public enum Fault: Sendable {
        /// The server closes the connection in order, with FIN and, under TLS, a close-notify before it. Over HTTP/2
        /// the server sends a GOAWAY first.
        case closes(Point)
        /// The server closes the connection without the close-notify of TLS. Without TLS the fault is equal to
        /// `closes`.
        case hangsUp(Point)
        /// The server resets the TCP connection (RST). Over HTTP/2 the server resets the stream with INTERNAL_ERROR and
        /// keeps the connection.
        case resets(Point)
        /// The server resets the TCP connection with every protocol.
        case resetsConnection(Point)
        /// The server sends nothing more until the gate opens. The wait ends early when the connection (or the stream,
        /// over HTTP/2) closes.
        case stalls(Point, until: LoopbackGate)
        /// The server sends the body in portions of `bytes` bytes, one at each interval, beginning immediately.
        case paces(bytes: Int, every: Duration)
        /// `Content-Length` contains this length. If the length is wrong, the server closes the connection after the
        /// body.
        case announces(length: Int64)
        /// The response has two `Content-Length` fields with different values.
        case conflictingLengths
        /// The response has a chunk with an invalid size, if the framing is chunked over HTTP/1.1. Otherwise the server
        /// closes the connection.
        case malformedChunk(after: Int64)
        /// The response has an invalid status line, or an invalid `:status` over HTTP/2.
        case malformedStatus
        /// The response has a field with forbidden characters.
        case malformedField
        /// The response has a field with a value of `bytes` bytes.
        case oversizedField(bytes: Int)
        /// The server sends an interim response (1xx) before the head.
        case interim(HTTPResponse)
        /// The server sends `Connection: close` and closes the connection after the response. Over HTTP/2 the server
        /// sends a GOAWAY that lets the stream finish.
        case goesAway

        /// The server sends `count` bytes of the body and closes the connection in order.
        public static func truncates(after count: Int64) -> Fault { .closes(.afterBody(count)) }

        /// The server closes the connection without sending a byte.
        public static let closesUnanswered = Fault.closes(.beforeHead)

        /// Returns faults after which a correct client must not report success, for tests of combinations. The body
        /// must have `bodyLength` bytes, and at least two. The framing must not be `untilClose`, because a client
        /// cannot detect that such a body is truncated.
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
    /// A short description of the fault, for messages of tests.
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
    /// A short description of the position, for messages of tests.
    public var description: String {
        switch self {
        case .beforeHead: "before the head"
        case .afterHead: "after the head"
        case .afterBody(let count): "after \(count) bytes of the body"
        }
    }
}
