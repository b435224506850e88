public import HTTPTypes

/// The requests that the client may send again after a failure, although the server may have processed the first
/// request.
public enum RetrySafety: String, Hashable, Sendable, Codable {
    /// Requests with safe methods: GET, HEAD, OPTIONS, QUERY and TRACE.
    case safe
    /// Requests with idempotent methods: the safe methods, PUT and DELETE.
    case idempotent
    /// Requests with any method. The caller knows that a repeated request does no harm.
    case always
    /// No requests.
    case never

    /// Returns whether a request with this method may be sent again.
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
    /// Whether the method only reads (RFC 9110, section 9.2.1).
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace, .query: true
        default: false
        }
    }
    /// Whether a repeated request has the same effect as one request (RFC 9110, section 9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}

extension HTTPError.Reason {
    /// Whether another attempt can succeed. The value is true for failed connections, truncated bodies, exceeded time
    /// limits except the limit for the whole request, and some statuses.
    package var isRetryable: Bool {
        switch self {
        case .connection, .truncated, .timedOut(.connect), .timedOut(.idle): true
        case .unacceptableStatus(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
        default: false
        }
    }
}

extension HTTPError {
    /// Returns whether a request that failed with this error may be sent again.
    package func mayRetry(_ method: HTTPRequest.Method, marking: RetrySafety, bodyIsRepeatable: Bool) -> Bool {
        reason.isRetryable && marking.permits(method) && bodyIsRepeatable
    }
}
