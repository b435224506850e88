import Crypto
import HTTPCore
package import HTTPTypes

/// The request fields by which a response varies (RFC 9111 §4.1).
///
/// The field `Authorization` always counts. A response to a request with one value never serves a request with another
/// value. The cache stores only a digest of the values, so that the disk contains no secrets of a request.
package enum Variance: Equatable, Sendable {
    /// `Vary: *`, so that the response serves no other request.
    case everything
    /// The sorted lowercase names of request fields.
    case fields([String])

    package init(of response: HTTPFields) {
        let names = response[values: .vary].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
        self = names.contains("*") ? .everything : .fields(Set(names).sorted())
    }

    /// Returns the key that two requests must have in common to share the response. The key is empty if no field
    /// matters, and nil if the response serves no other request.
    package func secondaryKey(of request: HTTPFields) -> String? {
        guard case .fields(var names) = self else { return nil }
        if request.contains(.authorization), !names.contains("authorization") { names.append("authorization") }
        guard !names.isEmpty else { return "" }
        var digest = SHA256()
        for name in names {
            var line = name
            // A request cannot contain a field whose name is not a token.
            if let field = HTTPField.Name(name), request.contains(field) {
                line += ":" + Self.normalised(request[values: field])
            }
            digest.update(data: Array("\(line)\n".utf8))
        }
        return digest.finalize().hexadecimal()
    }

    /// Joins the lines of a field and removes spaces around commas, which does not change the meaning of a list.
    private static func normalised(_ lines: [String]) -> String {
        lines.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { member in
                let start = member.drop { $0 == " " || $0 == "\t" }
                return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
            }.joined(separator: ",")
    }
}
