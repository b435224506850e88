import Foundation
import GRDB
import HTTPTypes

/// A row of the index.
struct CacheEntry: Codable, FetchableRecord, Sendable {
    /// The kind of an entry: a response to a request, or data under a key of the program.
    enum Kind: Int, Codable, Sendable { case response, data }

    /// The row's identifier, or 0 before the entry is stored. Another entry never reuses the identifier.
    var id: Int64 = 0
    var kind: Kind
    var key: String
    var variant: String
    /// The response's head as JSON, or empty for data.
    var head: Data
    /// The SHA-256 digest of the body in hexadecimal digits.
    var digest: String
    /// The size of the body in bytes.
    var size: Int64
    /// The time of the request. All times are in seconds since 1970.
    var requestTime: Double
    /// The time of the response's arrival or of its last validation.
    var responseTime: Double
    /// The time when the response becomes stale.
    var staleTime: Double
    var lastUse: Double

    /// The size in bytes that each entry adds to its body and head.
    static let overhead: Int64 = 256

    /// The entry's size under the limit, in bytes. The first term is bounded, because a damaged index can contain any
    /// size.
    var cost: Int64 { min(size, .max / 2) + Int64(head.count) + Self.overhead }

    /// Whether this is a response that arrived later than the other entry. A time in the future, from before a change of the
    /// clock, does not count.
    func isLaterResponse(than other: CacheEntry) -> Bool {
        kind == .response && responseTime > other.responseTime && responseTime <= Date().timeIntervalSince1970
    }

    init(response: StoredResponse, key: String, variant: String, digest: String, size: Int64, now: Date) throws {
        kind = .response
        (self.key, self.variant, self.digest, self.size) = (key, variant, digest, size)
        head = try JSONEncoder().encode(response.storable.response)
        requestTime = response.requestTime.timeIntervalSince1970
        responseTime = response.responseTime.timeIntervalSince1970
        staleTime = Freshness.end(of: response).timeIntervalSince1970
        lastUse = now.timeIntervalSince1970
    }

    /// Creates an entry for data under a key. The entry never becomes stale.
    init(key: String, variant: String, digest: String, size: Int64, now: Date) {
        kind = .data
        (self.key, self.variant, self.digest, self.size) = (key, variant, digest, size)
        head = Data()
        (requestTime, responseTime) = (now.timeIntervalSince1970, now.timeIntervalSince1970)
        staleTime = .greatestFiniteMagnitude
        lastUse = now.timeIntervalSince1970
    }

    /// The stored head, or nil if the head cannot be decoded.
    var stored: StoredResponse? {
        guard let response = try? JSONDecoder().decode(HTTPResponse.self, from: head) else { return nil }
        return StoredResponse(
            response, requestTime: Date(timeIntervalSince1970: requestTime),
            responseTime: Date(timeIntervalSince1970: responseTime))
    }
}
