package import Foundation
import HTTPCore
package import HTTPTypes

/// The stored head of a response, with the times of the request and of the response's arrival.
package struct StoredResponse: Equatable, Sendable {
    package var response: HTTPResponse
    package var requestTime: Date
    package var responseTime: Date

    /// Creates the stored head from a received head, without the fields that must not be stored.
    package init(_ response: HTTPResponse, requestTime: Date, responseTime: Date) {
        self.response = response
        self.response.headerFields = Self.reusable(Self.endToEnd(response.headerFields))
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// The head without the fields that only the request of the latest validation may receive.
    package var storable: StoredResponse {
        StoredResponse(response, requestTime: requestTime, responseTime: responseTime)
    }

    package var control: CacheControl { CacheControl(ofResponse: response.headerFields) }

    /// The earliest date in the response's field Date, or the time of arrival.
    package var date: Date {
        response.headerFields[values: .date].compactMap { HTTPDate.parse($0, now: responseTime) }.min() ?? responseTime
    }

    /// The conditions that revalidate the response (§4.3.1). Empty if the response has no validator.
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

    /// The fields that a 304 or a response to HEAD never changes, because they describe the stored body (§3.2). A 304 may
    /// have the strong tag of another coding of the representation, which would make a weak tag strong.
    private static let bodyFields: Set<String> = [
        "content-digest", "content-encoding", "content-length", "content-md5", "content-range", "content-type",
        "digest",
        "etag", "repr-digest",
    ]

    /// Returns the fields without those that the response forbids to reuse (§5.2.2.4).
    private static func reusable(_ fields: HTTPFields) -> HTTPFields {
        let unreused = CacheControl(ofResponse: fields).unreusedFields
        return unreused.isEmpty ? fields : HTTPFields(fields.filter { !unreused.contains($0.name.canonicalName) })
    }

    /// Returns the fields without those that concern the connection (§3.1).
    private static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        let named = fields[values: .connection].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let dropped = connectionFields.union(named)
        return HTTPFields(fields.filter { !dropped.contains($0.name.canonicalName) })
    }

    /// Returns the stored head after the server has confirmed that the response is valid (§3.2, §4.3.4). Returns nil if
    /// the confirmation concerns another response.
    package func validated(by update: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse? {
        guard isSameRepresentation(update.headerFields) else { return nil }
        let new = Self.endToEnd(update.headerFields).filter { !Self.bodyFields.contains($0.name.canonicalName) }
        // The server chose the stored body by the fields in the stored Vary. A 304 may omit some, so it only adds names.
        let replaced = Set(new.map(\.name)).subtracting([.vary])
        let kept = response.headerFields.filter { field in
            // The stored Age describes the original response, not the revalidation.
            field.name != .age && !replaced.contains(field.name)
        }
        // The control of both decides, because the update may forbid the reuse of a stored field.
        let control = CacheControl(ofResponse: HTTPFields(kept + new))
        let reused = kept.filter { !control.unreusedFields.contains($0.name.canonicalName) }
        var result = self
        result.response.headerFields = HTTPFields(reused + new)
        result.requestTime = requestTime
        result.responseTime = responseTime
        // Without a Date in the update, the old date would keep the response as old as before.
        if !replaced.contains(.date) { result.response.headerFields[.date] = HTTPDate.format(responseTime) }
        return result
    }

    /// Returns the stored head after a response to HEAD (§4.3.5). Returns nil if the stored response is out of date.
    package func freshened(byHead head: HTTPResponse, requestTime: Date, responseTime: Date) -> StoredResponse? {
        let (old, new) = (response.headerFields, head.headerFields)
        for name in [HTTPField.Name.eTag, .lastModified] where new.contains(name) {
            guard old[name] == new[name] else { return nil }
        }
        if let length = new[.contentLength], old[.contentLength] != length {
            // A response that came in chunks, or was decoded, has no length.
            let isKnown = new.contains(.eTag) || new.contains(.lastModified)
            guard !old.contains(.contentLength), isKnown else { return nil }
        }
        guard !conditions.isEmpty, head.status.code == 200, response.status.code == 200 else { return nil }
        return validated(by: head, requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns whether the update describes the stored response (§4.3.4). The weak comparison of entity tags decides if
    /// the update has a tag. Otherwise the modification date decides.
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
