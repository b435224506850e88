import HTTPTypes

/// The steps of the answer to a request. The script makes all decisions, and an exchange executes the steps.
struct ResponseScript: Sendable {
    enum Step: Sendable {
        case interim(HTTPResponse)
        /// Send the head that `head` describes.
        case head
        /// Send this range of the body, which is never empty.
        case body(Range<Int64>)
        case malformedChunk
        case wait(LoopbackGate)
        /// Mark the end of the response.
        case end
        case close
        case hangUp
        case reset
        case resetConnection

        /// Whether no other step follows.
        var isLast: Bool {
            switch self {
            case .end, .close, .hangUp, .reset, .resetConnection: true
            case .interim, .head, .body, .malformedChunk, .wait: false
            }
        }
    }

    /// The head of the response with its faults.
    struct Head: Sendable {
        var status: HTTPResponse.Status
        var fields: HTTPFields
        /// The values of the fields `Content-Length`, one field for each value.
        var lengths: [Int64] = []
        var isChunked = false
        var closesConnection = false
        var hasMalformedStatus = false
        var hasMalformedField = false
        var oversizedField: Int?
    }

    private(set) var head: Head
    private(set) var steps: [Step] = []
    private(set) var pace: (bytes: Int, interval: Duration)?
    /// Whether the connection accepts another request after this response.
    var keepsConnection: Bool { !head.closesConnection }
    private(set) var goesAway = false

    /// - Parameter keepsConnection: Whether the request allows a persistent connection.
    init(_ response: LoopbackResponse, to method: HTTPRequest.Method, keepsConnection: Bool) {
        head = Head(status: response.status, fields: response.fields)
        head.closesConnection =
            !keepsConnection || response.fields[.connection]?.lowercased() == "close"
        let length = Self.hasBody(response.status, method) ? response.body.length : 0
        describeBody(of: response, method, sent: length)

        var places: [(at: Int64, step: Step)] = []
        for fault in response.faults {
            if let place = apply(fault, length) { places.append(place) }
        }
        // The sort is stable, so that faults at the same position keep their order.
        let sorted = places.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
        write(sorted, length)
    }

    private static func hasBody(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method) -> Bool {
        method != .head && status.code >= 200 && status.code != 204 && status.code != 304
    }

    private mutating func describeBody(of response: LoopbackResponse, _ method: HTTPRequest.Method, sent: Int64) {
        let mayHaveBody = response.status.code >= 200 && response.status.code != 204 && response.status.code != 304
        guard mayHaveBody, response.fields[.contentLength] == nil, response.fields[.transferEncoding] == nil else {
            return
        }
        switch response.framing {
        case .contentLength: head.lengths = [response.body.length]
        case .chunked: head.isChunked = true
        case .untilClose: head.closesConnection = true
        }
    }

    /// Applies a fault to the head. Returns the position and the step of the fault, or nil.
    private mutating func apply(_ fault: LoopbackResponse.Fault, _ length: Int64) -> (at: Int64, step: Step)? {
        switch fault {
        case .closes(let point): return (min(point.offset, length), .close)
        case .hangsUp(let point): return (min(point.offset, length), .hangUp)
        case .resets(let point): return (min(point.offset, length), .reset)
        case .resetsConnection(let point): return (min(point.offset, length), .resetConnection)
        case .stalls(let point, let gate): return (min(point.offset, length), .wait(gate))
        case .malformedChunk(let count):
            head.closesConnection = true
            return (min(max(0, count), length), head.isChunked ? .malformedChunk : .close)
        case .interim(let response): return (-2, .interim(response))
        case .paces(let bytes, let interval): pace = (max(1, bytes), interval)
        case .announces(let announced):
            head.lengths = [announced]
            head.isChunked = false
            head.closesConnection = head.closesConnection || announced != length
        case .conflictingLengths:
            head.lengths = [length, length + 1]
            head.isChunked = false
            head.closesConnection = true
        case .malformedStatus: head.hasMalformedStatus = true
        case .malformedField: head.hasMalformedField = true
        case .oversizedField(let bytes): head.oversizedField = max(0, bytes)
        case .goesAway:
            goesAway = true
            head.closesConnection = true
        }
        return nil
    }

    private mutating func write(_ places: [(at: Int64, step: Step)], _ length: Int64) {
        var sent: Int64 = 0
        var isHeadWritten = false
        for place in places {
            if place.at > -2, !isHeadWritten {
                steps.append(.head)
                isHeadWritten = true
            }
            if place.at > sent {
                steps.append(.body(sent..<place.at))
                sent = place.at
            }
            steps.append(place.step)
            if place.step.isLast { return }
            if case .malformedChunk = place.step {
                steps.append(.close)
                return
            }
        }
        if !isHeadWritten { steps.append(.head) }
        if sent < length { steps.append(.body(sent..<length)) }
        steps.append(.end)
    }
}
