#if Networking
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Made once: a hundred numbers for each request would be felt.
private let statusesOfSuccess = Set(200..<300)

/// Makes a value of a response, if its status and type are acceptable (rule R11).
public struct HTTPSerializer<Value: Sendable>: Sendable {
    /// Others fail with `HTTPError.Reason.unacceptableStatus`; nil for all.
    public var acceptableStatuses: Set<Int>?
    /// Others fail with `HTTPError.Reason.unacceptableType`, and so does a body without a type. Empty for all.
    public var acceptableTypes: [MediaRange]
    /// Whether a response without a body fails with `HTTPError.Reason.emptyBody`, without being decoded.
    public var needsBody: Bool
    /// What it throws is the error's `undecodable`, unless it is an `HTTPError` itself.
    public var decode: @Sendable (Data, HTTPResponse) throws -> Value

    /// The types that the field Accept names, if they are others than the acceptable ones.
    package var accepted: [MediaRange]?

    /// Statuses from 200 to 299.
    public static var successes: Set<Int> { statusesOfSuccess }

    public init(
        acceptableStatuses: Set<Int>? = HTTPSerializer.successes, acceptableTypes: [MediaRange] = [],
        needsBody: Bool = false, decode: @escaping @Sendable (Data, HTTPResponse) throws -> Value
    ) {
        self.acceptableStatuses = acceptableStatuses
        self.acceptableTypes = acceptableTypes
        self.needsBody = needsBody
        self.decode = decode
    }

    /// The value of a response. `url` is for the error.
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

    /// What is wrong with status or type, before the body is there; nil if nothing is.
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
            // Without a body there is nothing that has a type.
            var statusOnly = self
            statusOnly.acceptableTypes = []
            return statusOnly.objection(to: response) ?? (needsBody ? .emptyBody : nil)
        }
        if let reason = objection(to: response) { return reason }
        let lacksType = !acceptableTypes.isEmpty && response.headerFields[.contentType] == nil
        return lacksType ? .unacceptableType(nil) : nil
    }

    /// What the request's field Accept says. It knows no suffixes.
    package var accept: String {
        var kinds: [String] = []
        for kind in (accepted ?? acceptableTypes).compactMap(\.acceptable) where !kinds.contains(kind) {
            kinds.append(kind)
        }
        return kinds.isEmpty ? "*/*" : kinds.joined(separator: ", ")
    }

    /// The same with another value made of this one's.
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
#endif
