#if Networking
package import Foundation
import HTTPCore
package import HTTPTypes

/// The head of a response as it is kept, and when it was asked for and came.
package struct StoredResponse: Equatable, Sendable {
    package var response: HTTPResponse
    package var requestTime: Date
    package var responseTime: Date

    /// A head as it came: what belongs to the connection is left out (RFC 9111 §3.1).
    package init(_ response: HTTPResponse, requestTime: Date, responseTime: Date) {
        self.response = response
        self.response.headerFields = Self.storable(response.headerFields)
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    package var control: CacheControl { CacheControl(ofResponse: response.headerFields) }

    /// When the origin made it; if it does not say, when it came.
    package var date: Date {
        response.headerFields[.date].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    /// What to send along to learn whether it is still valid (§4.3.1); empty if it has no validator.
    package var conditions: HTTPFields {
        var fields = HTTPFields()
        if let tag = response.headerFields[values: .eTag].first, !tag.isEmpty { fields[.ifNoneMatch] = tag }
        if let date = response.headerFields[values: .lastModified].first, HTTPDate.parse(date, now: responseTime) != nil
        {
            fields[.ifModifiedSince] = date
        }
        return fields
    }

    // MARK: - Fields

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// What an answer to a check or a HEAD never changes: it tells of the body that is stored, not of the check (§3.2).
    private static let bodyFields: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type", "etag",
    ]

    private static func storable(_ fields: HTTPFields) -> HTTPFields {
        let named = fields[values: .connection].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let dropped = connectionFields.union(named)
        return HTTPFields(fields.filter { !dropped.contains($0.name.canonicalName) })
    }

    /// The stored head after the server has said that it is still valid (§3.2, §4.3.4). Nil if that was said of another
    /// response than this one.
    package func validated(by update: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse? {
        guard isSameRepresentation(update.headerFields) else { return nil }
        let new = Self.storable(update.headerFields).filter { !Self.bodyFields.contains($0.name.canonicalName) }
        let replaced = Set(new.map(\.name))
        let kept = response.headerFields.filter { field in
            // The age it had when it was stored says nothing of when it was checked.
            field.name != .age && !replaced.contains(field.name)
        }
        var result = self
        result.response.headerFields = HTTPFields(kept + new)
        result.requestTime = requestTime
        result.responseTime = responseTime
        // Its date is that of the check, else it would be as old as before.
        if !replaced.contains(.date) { result.response.headerFields[.date] = HTTPDate.format(responseTime) }
        return result
    }

    /// The stored head after a HEAD was answered (§4.3.5). Nil if what is stored is out of date.
    package func freshened(byHead head: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse? {
        let (old, new) = (response.headerFields, head.headerFields)
        for name in [HTTPField.Name.eTag, .lastModified, .contentLength] where new.contains(name) {
            guard old[name] == new[name] else { return nil }
        }
        guard !conditions.isEmpty, head.status.code == 200, response.status.code == 200 else { return nil }
        return validated(by: head, requestTime: requestTime, responseTime: responseTime)
    }

    /// By the entity tags, compared weakly, if the update has one; else by the date of change (§4.3.4).
    private func isSameRepresentation(_ update: HTTPFields) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        let stored = response.headerFields
        if let tag = update[values: .eTag].first {
            return stored[values: .eTag].first.map { opaque($0) == opaque(tag) } ?? false
        }
        guard !stored.contains(.eTag), let date = update[values: .lastModified].first else { return true }
        return stored[values: .lastModified].first == date
    }
}
#endif
