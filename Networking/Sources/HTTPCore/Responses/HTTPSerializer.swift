public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Created once, because a new set of a hundred numbers for each request has a measurable cost.
private let statusesOfSuccess = Set(200..<300)

/// A conversion of a response to a value, with the statuses and types that the conversion accepts.
public struct HTTPSerializer<Value: Sendable>: Sendable {
    /// The accepted statuses, or nil to accept every status. Another status fails with
    /// `HTTPError.Reason.unacceptableStatus`.
    public var acceptableStatuses: Set<Int>?
    /// The accepted media types, or an empty array to accept every type. A body of another type, or without a type,
    /// fails with `HTTPError.Reason.unacceptableType`.
    public var acceptableTypes: [MediaRange]
    /// Whether a response without a body fails with `HTTPError.Reason.emptyBody`. If true, `decode` never receives an
    /// empty body.
    public var needsBody: Bool
    /// Converts the body of a response. An error that `decode` throws becomes `HTTPError.Reason.undecodable`, unless
    /// the error is an `HTTPError`.
    public var decode: @Sendable (Data, HTTPResponse) throws -> Value

    /// The types of the request's field Accept, if they differ from `acceptableTypes`.
    package var accepted: [MediaRange]?

    /// The statuses from 200 to 299.
    public static var successes: Set<Int> { statusesOfSuccess }

    /// Creates a serializer. The default accepts statuses from 200 to 299, every media type, and responses without a
    /// body.
    public init(
        acceptableStatuses: Set<Int>? = HTTPSerializer.successes, acceptableTypes: [MediaRange] = [],
        needsBody: Bool = false, decode: @escaping @Sendable (Data, HTTPResponse) throws -> Value
    ) {
        self.acceptableStatuses = acceptableStatuses
        self.acceptableTypes = acceptableTypes
        self.needsBody = needsBody
        self.decode = decode
    }

    /// Returns the value of a response. `url` appears in the error that the method throws.
    public func value(_ body: Data, _ response: HTTPResponse, url: String) throws(HTTPError) -> Value {
        func error(_ reason: HTTPError.Reason) -> HTTPError { HTTPError(reason, url: url, response: response) }
        if let reason = objection(to: response, isEmpty: body.isEmpty) { throw error(reason) }
        do {
            return try decode(body, response)
        } catch let failure as HTTPError {
            throw HTTPError(failure.reason, url: url, response: response)
        } catch let failure {
            throw error(.undecodable(failure))
        }
    }

    /// Returns the reason why the response's status or type is not acceptable, or nil. The method does not need the
    /// body.
    package func objection(to response: HTTPResponse) -> HTTPError.Reason? {
        if let acceptableStatuses, !acceptableStatuses.contains(response.status.code) {
            return .unacceptableStatus(response.status.code)
        }
        guard !acceptableTypes.isEmpty, let type = response.headerFields[.contentType] else { return nil }
        let media = MediaType(type)
        return media.map { media in acceptableTypes.contains { $0.contains(media) } } ?? false
            ? nil : .unacceptableType(type)
    }

    private func objection(to response: HTTPResponse, isEmpty: Bool) -> HTTPError.Reason? {
        if isEmpty, !acceptableTypes.isEmpty || needsBody {
            // An empty body needs no type.
            var statusOnly = self
            statusOnly.acceptableTypes = []
            return statusOnly.objection(to: response) ?? (needsBody ? .emptyBody : nil)
        }
        if let reason = objection(to: response) { return reason }
        let lacksType = !acceptableTypes.isEmpty && response.headerFields[.contentType] == nil
        return lacksType ? .unacceptableType(nil) : nil
    }

    /// The value of the request's field Accept. Accept has no syntax for ranges with a suffix, so that the value omits
    /// such ranges.
    package var accept: String {
        var kinds: [String] = []
        for kind in (accepted ?? acceptableTypes).compactMap(\.acceptable) where !kinds.contains(kind) {
            kinds.append(kind)
        }
        return kinds.isEmpty ? "*/*" : kinds.joined(separator: ", ")
    }

    /// Returns a serializer that applies `transform` to the values of this serializer.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> HTTPSerializer<Other> {
        let decode = decode
        var mapped = HTTPSerializer<Other>(
            acceptableStatuses: acceptableStatuses, acceptableTypes: acceptableTypes, needsBody: needsBody
        ) { try transform(try decode($0, $1)) }
        mapped.accepted = accepted
        return mapped
    }
}
