#if Networking
package import HTTPTypes

extension ResumePoint {
    /// What the response to a request with `requestFields` means.
    package enum Verdict: Hashable, Sendable {
        /// The body goes on where one is: `length` bytes follow, and then there should be `total`, if that is known.
        case proceed(length: Int64, total: Int64?)
        /// The body is the whole, from its first byte: what one has is thrown away.
        case startOver
        /// The body is of no use: throw away what one has, and ask again without `requestFields`.
        case askAgain
        /// One has everything already.
        case complete
        /// The response says nothing about the range: a redirect, a challenge, an error.
        case unrelated
    }

    package func verdict(on response: HTTPResponse) -> Verdict {
        switch response.status.code {
        case 200: .startOver
        case 206: verdict(onPart: response.headerFields)
        case 416: verdict(onRefusal: response.headerFields)
        default: .unrelated
        }
    }

    private func verdict(onPart fields: HTTPFields) -> Verdict {
        // `multipart/byteranges` has no Content-Range of its own.
        guard fields[values: .contentRange].count == 1, fields.isIdentityCoded, isSameVersion(fields),
            case .bytes(let range, let whole)? = fields[.contentRange].flatMap(ContentRange.init),
            range.lowerBound == received, isSame(total: whole)
        else { return .askAgain }
        let length = range.upperBound - range.lowerBound + 1
        if let total = total, range.upperBound >= total { return .askAgain }
        if let text = fields[.contentLength], Int64(text) != length { return .askAgain }
        return .proceed(length: length, total: whole ?? total)
    }

    private func verdict(onRefusal fields: HTTPFields) -> Verdict {
        guard isSameVersion(fields), case .unsatisfied(let whole?)? = fields[.contentRange].flatMap(ContentRange.init),
            whole == received, isSame(total: whole)
        else { return .askAgain }
        return .complete
    }

    private func isSame(total whole: Int64?) -> Bool { whole == nil || total == nil || whole == total }

    /// A response that does not repeat the validator is believed: the server has compared it with If-Range.
    private func isSameVersion(_ fields: HTTPFields) -> Bool {
        switch validator {
        case .entityTag(let tag): fields[.eTag].map { $0 == tag } ?? true
        case .lastModified(let date): fields[.lastModified].map { $0 == date } ?? true
        }
    }
}
#endif
