/// A complete request.
package struct HTTPRequest: Sendable, Equatable {
    package var method: String
    /// The path without the query, with its percent escapes.
    package var path: String
    /// The query without its question mark; empty if there is none.
    package var query: String
    /// The fields, with names in lower case.
    package var fields: [String: String]
    package var body: [UInt8]
    /// Whether the client can send a second request on the connection.
    package var keepsAlive: Bool

    package init(
        method: String = "GET", path: String, query: String = "", fields: [String: String] = [:], body: [UInt8] = [],
        keepsAlive: Bool = true
    ) {
        (self.method, self.path, self.query, self.fields) = (method, path, query, fields)
        (self.body, self.keepsAlive) = (body, keepsAlive)
    }
}
