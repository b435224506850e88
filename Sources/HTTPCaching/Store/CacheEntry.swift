#if Networking
import Foundation
import GRDB
import HTTPTypes

/// A row of the index.
struct CacheEntry: Codable, FetchableRecord, Sendable {
    /// Of what an entry is: a response to an address, or data under a key of the program's own.
    enum Kind: Int, Codable, Sendable { case response, data }

    /// 0 until it is stored; never used again for another entry.
    var id: Int64 = 0
    var kind: Kind
    var key: String
    var variant: String
    /// JSON of the response's head; empty for data.
    var head: Data
    /// SHA-256 of the body, in hexadecimal.
    var digest: String
    /// Bytes of the body.
    var size: Int64
    /// Seconds since 1970, as all times here.
    var requestTime: Double
    /// When it came, or was last found valid.
    var responseTime: Double
    /// From when on it is stale.
    var staleTime: Double
    var lastUse: Double

    /// What an entry counts for, besides its body and head.
    static let overhead: Int64 = 256

    /// What it counts for under the limit. A damaged index may hold any size.
    var cost: Int64 { min(size, .max / 2) + Int64(head.count) + Self.overhead }

    init(response: StoredResponse, key: String, variant: String, digest: String, size: Int64, now: Date) throws {
        kind = .response
        (self.key, self.variant, self.digest, self.size) = (key, variant, digest, size)
        head = try JSONEncoder().encode(response.response)
        requestTime = response.requestTime.timeIntervalSince1970
        responseTime = response.responseTime.timeIntervalSince1970
        staleTime = Freshness.end(of: response).timeIntervalSince1970
        lastUse = now.timeIntervalSince1970
    }

    /// Data under a key, which is never stale.
    init(key: String, variant: String, digest: String, size: Int64, now: Date) {
        kind = .data
        (self.key, self.variant, self.digest, self.size) = (key, variant, digest, size)
        head = Data()
        (requestTime, responseTime) = (now.timeIntervalSince1970, now.timeIntervalSince1970)
        staleTime = .greatestFiniteMagnitude
        lastUse = now.timeIntervalSince1970
    }

    /// Nil if the head cannot be read.
    var stored: StoredResponse? {
        guard let response = try? JSONDecoder().decode(HTTPResponse.self, from: head) else { return nil }
        return StoredResponse(
            response, requestTime: Date(timeIntervalSince1970: requestTime),
            responseTime: Date(timeIntervalSince1970: responseTime))
    }
}
#endif
