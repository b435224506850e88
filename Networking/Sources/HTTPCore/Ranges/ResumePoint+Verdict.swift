package import HTTPTypes

extension ResumePoint {
    /// The meaning of a response to a request with `requestFields`.
    package enum Verdict: Hashable, Sendable {
        /// The body continues at the resume point with `length` bytes. `total` is the expected number of all bytes.
        case proceed(length: Int64, total: Int64)
        /// The body is the complete body from its first byte. Discard the bytes received so far.
        case startOver
        /// The body is unusable. Discard the bytes received so far, and send the request again without `requestFields`.
        case askAgain
        /// The received bytes are already complete.
        case complete
        /// The response does not concern the range, for example a redirect, a challenge or an error.
        case unrelated
    }

    /// Returns the meaning of a response to a request with `requestFields`.
    package func verdict(on response: HTTPResponse) -> Verdict {
        switch response.status.code {
        case 200: verdict(onWhole: response.headerFields)
        case 206: verdict(onPart: response.headerFields)
        case 201..<300, 412: .askAgain
        case 416: verdict(onRefusal: response.headerFields)
        default: .unrelated
        }
    }

    /// Some servers send the requested part with the status of the whole.
    private func verdict(onWhole fields: HTTPFields) -> Verdict {
        guard case .bytes(let range, let total)? = fields[.contentRange].flatMap(ContentRange.init) else {
            return .startOver
        }
        return range.lowerBound == 0 && (total == nil || range.upperBound + 1 == total) ? .startOver : .askAgain
    }

    private func verdict(onPart fields: HTTPFields) -> Verdict {
        // `multipart/byteranges` has no Content-Range in the head of the response.
        guard fields[values: .contentRange].count == 1, fields.isIdentityCoded, isSameVersion(fields),
            case .bytes(let range, let whole)? = fields[.contentRange].flatMap(ContentRange.init),
            range.lowerBound == received, isSame(total: whole),
            // A server may send less than the requested range. Without a total, the end of the body would not be known.
            let total = whole ?? total, range.upperBound < total
        else { return .askAgain }
        let length = range.upperBound - range.lowerBound + 1
        if let text = fields[.contentLength], Int64(text) != length { return .askAgain }
        return .proceed(length: length, total: total)
    }

    private func verdict(onRefusal fields: HTTPFields) -> Verdict {
        guard isSameVersion(fields), case .unsatisfied(let whole?)? = fields[.contentRange].flatMap(ContentRange.init),
            whole == received, isSame(total: whole)
        else { return .askAgain }
        return .complete
    }

    private func isSame(total whole: Int64?) -> Bool { whole == nil || total == nil || whole == total }

    /// Returns whether the response has the same validator. A response without the validator counts as the same
    /// version, because the server has evaluated If-Range.
    private func isSameVersion(_ fields: HTTPFields) -> Bool {
        switch validator {
        case .entityTag(let tag): fields[.eTag].map { $0 == tag } ?? true
        case .lastModified(let date): fields[.lastModified].map { $0 == date } ?? true
        }
    }
}
