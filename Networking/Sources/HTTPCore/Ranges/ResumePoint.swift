package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The position where an interrupted download resumes, with a validator that detects a changed resource.
package struct ResumePoint: Hashable, Sendable, Codable {
    package enum Validator: Hashable, Sendable, Codable {
        /// A strong ETag with its quotation marks.
        case entityTag(String)
        /// A date that identifies one version, in the format that the server sent.
        case lastModified(String)
    }

    /// The number of received bytes from the start of the body.
    package let received: Int64
    package let validator: Validator
    /// The length of the complete body, if known.
    package let total: Int64?

    package init(received: Int64, validator: Validator, total: Int64?) {
        self.received = received
        self.validator = validator
        self.total = total
    }

    /// Returns nil if a resumed download could not detect another version. This is the case if no byte arrived, the
    /// response has no strong validator, or the body is encoded. The result is also nil if the server rejects ranges,
    /// or if more bytes arrived than announced.
    ///
    /// A modification date is strong if the field Date shows that the server created the response at least one second
    /// later.
    package init?(received: Int64, response: HTTPResponse, now: Date) {
        let fields = response.headerFields
        guard received > 0, [200, 206].contains(response.status.code), fields.isIdentityCoded,
            fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        var total: Int64?
        if response.status.code == 206 {
            guard case .bytes(_, let whole)? = fields[.contentRange].flatMap(ContentRange.init) else { return nil }
            total = whole
        } else {
            total = fields[.contentLength].flatMap { Int64($0) }
        }
        if let total, total < received { return nil }
        if let tag = fields[.eTag], Self.isStrong(tag) {
            self.init(received: received, validator: .entityTag(tag), total: total)
        } else if let text = fields[.lastModified], let modified = HTTPDate.parse(text, now: now),
            let made = fields[.date].flatMap({ HTTPDate.parse($0, now: now) }), made.timeIntervalSince(modified) >= 1
        {
            self.init(received: received, validator: .lastModified(text), total: total)
        } else {
            return nil
        }
    }

    package var isComplete: Bool { received == total }

    /// The fields that request the bytes from the resume point on, without compression, if the version is unchanged.
    package var requestFields: HTTPFields {
        var fields = HTTPFields()
        fields[.range] = "bytes=\(received)-"
        switch validator {
        case .entityTag(let value), .lastModified(let value): fields[.ifRange] = value
        }
        fields[.acceptEncoding] = "identity"
        return fields
    }

    /// Returns whether the tag is quoted and not weak.
    static func isStrong(_ tag: String) -> Bool {
        let (bytes, quote) = (Array(tag.utf8), UInt8(ascii: "\""))
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 != quote && !$0.isControl }
    }
}
