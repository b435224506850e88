public import HTTPTypes

/// A static resource that answers GET and HEAD according to RFC 9110, including conditions and ranges. On request the
/// resource violates a rule.
public struct LoopbackResource: Sendable {
    /// A violation of RFC 9110.
    public enum Lie: Sendable, Hashable, CaseIterable {
        /// The resource answers a request for a range with 200 and the complete body.
        case ignoresRange
        /// `Content-Range` begins one byte after the requested range and the sent bytes.
        case shiftsContentRange
        /// The resource sends a 206 without `Content-Range`.
        case omitsContentRange
        /// `Content-Range` contains a total length that is one byte too large.
        case wrongTotal
        /// A 206 contains bytes from the beginning in place of the requested bytes.
        case sendsWrongPart
        /// A 206 contains at most 20,000 bytes of the requested range, which HTTP permits.
        case sendsLess
        /// A 206 contains an `ETag` that is not the resource's.
        case changesETagOfPart
        /// The resource ignores `If-Range` and sends the requested range.
        case ignoresIfRange
        /// The resource answers each request for a range with 416.
        case refusesRange
        /// The resource announces one byte more than it sends.
        case announcesMore
        /// The resource announces one byte less than it sends.
        case announcesLess
        /// The resource answers every request with 304, even without a condition.
        case alwaysNotModified
    }

    /// The body of the resource.
    public var body: LoopbackBody
    /// The value of the field Content-Type, or nil to send no type.
    public var contentType: String?
    /// The entity tag with its quotation marks, and with `W/` if the tag is weak.
    public var eTag: String?
    /// The modification date as an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var lastModified: String?
    /// The value of the field Cache-Control, or nil to omit the field.
    public var cacheControl: String?
    /// Additional fields of each response.
    public var fields: HTTPFields
    /// Whether the resource answers requests for ranges.
    public var acceptsRanges = true
    /// The framing of the responses.
    public var framing = LoopbackResponse.Framing.contentLength
    /// The violations that the resource commits.
    public var lies: Set<Lie> = []

    /// Creates a resource that answers requests for ranges.
    public init(
        _ body: LoopbackBody, contentType: String? = "application/octet-stream", eTag: String? = nil,
        lastModified: String? = nil, cacheControl: String? = nil, fields: HTTPFields = [:], lies: Set<Lie> = []
    ) {
        self.body = body
        self.contentType = contentType
        self.eTag = eTag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
        self.fields = fields
        self.lies = lies
    }

    /// Returns the response to a request. Handlers can call the method to choose among several resources.
    public func response(to request: LoopbackRequest) -> LoopbackResponse {
        guard request.method == .get || request.method == .head else {
            return LoopbackResponse(.methodNotAllowed, fields: [.allow: "GET, HEAD"])
        }
        if isUnchanged(request.fields) {
            return LoopbackResponse(.notModified, fields: metadata)
        }
        var response = wholeOrPart(request)
        if lies.contains(.announcesMore) { response.faults.append(.announces(length: response.body.length + 1)) }
        if lies.contains(.announcesLess) {
            response.faults.append(.announces(length: max(0, response.body.length - 1)))
        }
        return response
    }

    private var metadata: HTTPFields {
        var fields = fields
        if acceptsRanges { fields[.acceptRanges] = "bytes" }
        if let eTag { fields[.eTag] = eTag }
        if let lastModified { fields[.lastModified] = lastModified }
        if let cacheControl { fields[.cacheControl] = cacheControl }
        return fields
    }

    /// Returns whether the conditions ask for a 304. `If-None-Match` has precedence over `If-Modified-Since` (RFC 9110,
    /// section 13.2.2).
    private func isUnchanged(_ fields: HTTPFields) -> Bool {
        if lies.contains(.alwaysNotModified) { return true }
        if let condition = fields[.ifNoneMatch] {
            guard let eTag else { return false }
            return condition.trimmed == "*"
                || condition.split(separator: ",").contains { String($0).trimmed.weakTag == eTag.weakTag }
        }
        guard let since = fields[.ifModifiedSince], let lastModified, let then = HTTPDate(since),
            let changed = HTTPDate(lastModified)
        else { return false }
        return changed <= then
    }

    private func wholeOrPart(_ request: LoopbackRequest) -> LoopbackResponse {
        var fields = metadata
        if let contentType { fields[.contentType] = contentType }
        let whole = LoopbackResponse(fields: fields, body: body, framing: framing)
        guard acceptsRanges, request.method == .get, let range = request.fields[.range], !lies.contains(.ignoresRange),
            lies.contains(.ignoresIfRange) || mayBePart(request.fields)
        else { return whole }
        if lies.contains(.refusesRange) { return unsatisfiable(fields) }
        switch RequestedRange(range, of: body.length) {
        case .none: return whole
        case .unsatisfiable: return unsatisfiable(fields)
        case .part(let part): return partial(part, fields)
        }
    }

    /// Returns whether `If-Range` allows a partial response. The field must contain the same strong tag or the exact
    /// date.
    private func mayBePart(_ fields: HTTPFields) -> Bool {
        guard let condition = fields[.ifRange]?.trimmed else { return true }
        if condition.hasSuffix("\"") { return condition == eTag && !condition.hasPrefix("W/") }
        return condition == lastModified
    }

    private func unsatisfiable(_ fields: HTTPFields) -> LoopbackResponse {
        var fields = fields
        fields[.contentRange] = "bytes */\(body.length)"
        fields[.contentType] = nil
        return LoopbackResponse(.rangeNotSatisfiable, fields: fields)
    }

    private func partial(_ part: Range<Int64>, _ fields: HTTPFields) -> LoopbackResponse {
        var (part, fields) = (part, fields)
        if lies.contains(.sendsLess) { part = part.lowerBound..<min(part.upperBound, part.lowerBound + 20_000) }
        let shift: Int64 = lies.contains(.shiftsContentRange) ? 1 : 0
        let total = body.length + (lies.contains(.wrongTotal) ? 1 : 0)
        fields[.contentRange] = "bytes \(part.lowerBound + shift)-\(part.upperBound - 1 + shift)/\(total)"
        if lies.contains(.omitsContentRange) { fields[.contentRange] = nil }
        if lies.contains(.changesETagOfPart) { fields[.eTag] = "\"another\"" }
        let sent = lies.contains(.sendsWrongPart) ? 0..<Int64(part.count) : part
        return LoopbackResponse(.partialContent, fields: fields, body: body[sent], framing: framing)
    }
}

extension LoopbackRoute {
    /// Returns a route that serves a resource, which never changes.
    public static func resource(_ path: String, _ resource: LoopbackResource) -> LoopbackRoute {
        LoopbackRoute(path) { resource.response(to: $0) }
    }
}

extension StringProtocol {
    var trimmed: String {
        let end = reversed().drop { $0 == " " || $0 == "\t" }
        return String(end.reversed().drop { $0 == " " || $0 == "\t" })
    }

    /// The entity tag without the prefix of weak tags, for weak comparison.
    var weakTag: String { hasPrefix("W/") ? String(dropFirst(2)) : String(self) }
}
