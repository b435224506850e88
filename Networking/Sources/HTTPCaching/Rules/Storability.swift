package import HTTPTypes

/// The effect of a response on the stored response to its request (RFC 9111 §3).
package enum Storability: Equatable, Sendable {
    /// The cache stores the response when its body is complete.
    case store
    /// The cache does not store the response, and removes the stored response because the resource has changed.
    case drop
    /// The cache does not store the response and keeps the stored response. Examples are partial responses, 304,
    /// failures and other methods.
    case leave

    package init(of response: HTTPResponse, to request: HTTPRequest, policy: HTTPCachePolicy) {
        let code = response.status.code
        guard request.method == .get, policy.reading != .ignore, TargetURI(request) != nil else {
            self = .leave
            return
        }
        switch code {
        case ..<200, 206, 304, 416, 412: self = .leave
        case _ where Self.mayStore(response, to: request): self = .store
        case 500...: self = .leave
        // A request without access does not change the resource.
        case 401, 403, 407, 408, 425, 429: self = .leave
        default: self = .drop
        }
    }

    private static func mayStore(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        let fields = response.headerFields
        let control = CacheControl(ofResponse: fields)
        let code = response.status.code
        if CacheControl(ofRequest: request.headerFields).noStore { return false }
        if control.mustUnderstand {
            // §5.2.2.3: the directive replaces no-store for a cache that knows the status.
            guard understood.contains(code) else { return false }
        } else if control.noStore {
            return false
        }
        if Variance(of: fields) == .everything { return false }
        if control.isPublic || control.isPrivate || control.maxAge != nil || fields.contains(.expires) { return true }
        // An error response needs a validator, because it is otherwise never served or revalidated. A policy can serve
        // a stale success without a validator.
        return Freshness.heuristicallyCacheable.contains(code)
            && (code < 300 || fields.contains(.lastModified) || fields.contains(.eTag))
    }

    /// The final statuses whose caching rules RFC 9110 defines.
    private static let understood: Set<Int> = Freshness.heuristicallyCacheable.union([302, 307])
}

/// The invalidation of stored responses after an unsafe method (RFC 9111 §4.4).
package enum Invalidation {
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT"]

    /// Returns the target, and the addresses in `Location` and `Content-Location` that have the same origin. Returns
    /// nothing after a failure.
    package static func targets(of response: HTTPResponse, to request: HTTPRequest) -> [TargetURI] {
        guard !safeMethods.contains(request.method.rawValue), (200..<400).contains(response.status.code),
            let target = TargetURI(request)
        else { return [] }
        let named = [HTTPField.Name.location, .contentLocation]
            .compactMap { response.headerFields[values: $0].first }.compactMap { target.sameOrigin($0) }
        return [target] + named.filter { $0 != target }
    }
}
