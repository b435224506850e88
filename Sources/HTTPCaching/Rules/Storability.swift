#if Networking
package import HTTPTypes

/// What a response does to what is stored for its request (RFC 9111 §3).
package enum Storability: Equatable, Sendable {
    /// It is kept, once it is complete.
    case store
    /// It is not kept, and what it stands for has changed: what is stored for the request is out of date.
    case drop
    /// It is not kept, and says nothing of what is stored: a part, a check, a failure, another method.
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
        // Whoever may not see it has not changed it.
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
            // §5.2.2.3: takes the place of no-store for whoever knows the status.
            guard understood.contains(code) else { return false }
        } else if control.noStore {
            return false
        }
        if Variance(of: fields) == .everything { return false }
        if control.isPublic || control.isPrivate || control.maxAge != nil || fields.contains(.expires) { return true }
        // Failures that can be neither served nor checked are of no use; a success is, to a policy that asks for it.
        return Freshness.heuristicallyCacheable.contains(code)
            && (code < 300 || fields.contains(.lastModified) || fields.contains(.eTag))
    }

    /// Final statuses whose caching rules RFC 9110 gives.
    private static let understood: Set<Int> = Freshness.heuristicallyCacheable.union([302, 307])
}

/// What a response to a method that is not safe makes out of date (RFC 9111 §4.4).
package enum Invalidation {
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT"]

    /// The target, and what `Location` and `Content-Location` name of the same origin. Nothing after a failure.
    package static func targets(of response: HTTPResponse, to request: HTTPRequest) -> [TargetURI] {
        guard !safeMethods.contains(request.method.rawValue), (200..<400).contains(response.status.code),
            let target = TargetURI(request)
        else { return [] }
        let named = [HTTPField.Name.location, .contentLocation]
            .compactMap { response.headerFields[values: $0].first }.compactMap { target.sameOrigin($0) }
        return [target] + named.filter { $0 != target }
    }
}
#endif
