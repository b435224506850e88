#if Networking
public import HTTPTypes

/// Which requests may be sent again after a failure, though the server may have acted on the first one (rule R10).
public enum RetryMarking: String, Hashable, Sendable, Codable {
    /// Safe methods only: GET, HEAD, OPTIONS, QUERY, TRACE.
    case safe
    /// Those, and PUT and DELETE, for which twice is as good as once.
    case idempotent
    /// Whatever the method: the request is known to do no harm when it comes twice.
    case always
    case never

    /// Whether a request with this method may be sent again.
    public func permits(_ method: HTTPRequest.Method) -> Bool {
        switch self {
        case .safe: method.isSafe
        case .idempotent: method.isIdempotent
        case .always: true
        case .never: false
        }
    }
}

extension HTTPRequest.Method {
    /// It only reads (RFC 9110, section 9.2.1).
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }
    /// Twice is as good as once (RFC 9110, section 9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}

extension HTTPError.Reason {
    /// Whether it may go well when tried again: connections, time-outs but that for the whole, broken transfers, and
    /// statuses that say so.
    package var isRetryable: Bool {
        switch self {
        case .connection, .truncated, .timedOut(.connect), .timedOut(.idle): true
        case .unacceptableStatus(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
        default: false
        }
    }
}

extension HTTPError {
    /// Whether a request that failed like this may be sent again.
    package func mayRetry(_ method: HTTPRequest.Method, marking: RetryMarking, bodyIsRepeatable: Bool) -> Bool {
        reason.isRetryable && marking.permits(method) && bodyIsRepeatable
    }
}
#endif
