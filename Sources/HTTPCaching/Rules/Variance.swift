#if Networking
import Crypto
package import HTTPTypes

/// Which requests a response is for, of those to one address (RFC 9111 §4.1).
///
/// Credentials count as if every response varied by them: what was got with one `Authorization` serves no other. Only a
/// digest of the values is kept, so that no secret of a request comes to be on disk.
package enum Variance: Equatable, Sendable {
    /// `Vary: *`: for no other request.
    case everything
    /// Names of request fields in lower case, sorted.
    case fields([String])

    package init(of response: HTTPFields) {
        let names = response[values: .vary].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
        self = names.contains("*") ? .everything : .fields(Set(names).sorted())
    }

    /// What two requests must have in common; nil if none has it with any. Empty if nothing of the request matters.
    package func secondaryKey(of request: HTTPFields) -> String? {
        guard case .fields(var names) = self else { return nil }
        if request.contains(.authorization), !names.contains("authorization") { names.append("authorization") }
        guard !names.isEmpty else { return "" }
        var digest = SHA256()
        for name in names {
            var line = name
            // A name that is no token is in no request.
            if let field = HTTPField.Name(name), request.contains(field) {
                line += ":" + Self.normalised(request[values: field])
            }
            digest.update(data: Array("\(line)\n".utf8))
        }
        return digest.finalize().hexadecimal
    }

    /// Lines joined, and no spaces around commas: what never changes the meaning of a list.
    private static func normalised(_ lines: [String]) -> String {
        lines.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { member in
                let start = member.drop { $0 == " " || $0 == "\t" }
                return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
            }.joined(separator: ",")
    }
}

extension SHA256.Digest {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
#endif
