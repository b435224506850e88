#if Networking
package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Where an interrupted download goes on, and by what one knows that it is still the same (rules R4 and D1).
package struct ResumePoint: Hashable, Sendable, Codable {
    package enum Validator: Hashable, Sendable, Codable {
        /// A strong ETag, with its quotes.
        case entityTag(String)
        /// A date that stands for one version only, as the server wrote it.
        case lastModified(String)
    }

    /// The bytes one has, from the first on.
    package let received: Int64
    package let validator: Validator
    /// Of the whole, if known.
    package let total: Int64?

    package init(received: Int64, validator: Validator, total: Int64?) {
        self.received = received
        self.validator = validator
        self.total = total
    }

    /// Nil if what comes next could not be told from another version: no bytes are there, the response has no strong
    /// validator, its body is encoded, the server takes no ranges, or there is more than there should be.
    ///
    /// A date is strong if the response was made at least a second later, by the server's own clock; so there has to be
    /// a field Date.
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

    /// What the request carries: the bytes from here on, if they are still of the same version, and not compressed.
    package var requestFields: HTTPFields {
        var fields = HTTPFields()
        fields[.range] = "bytes=\(received)-"
        switch validator {
        case .entityTag(let value), .lastModified(let value): fields[.ifRange] = value
        }
        fields[.acceptEncoding] = "identity"
        return fields
    }

    /// Quoted, and not weak.
    static func isStrong(_ tag: String) -> Bool {
        let (bytes, quote) = (Array(tag.utf8), UInt8(ascii: "\""))
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { $0 != quote && !$0.isControl }
    }
}
#endif
