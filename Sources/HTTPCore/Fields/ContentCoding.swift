#if Networking
package import HTTPTypes

extension HTTPFields {
    /// The codings of the body, in lower case and in the order in which they were applied; `identity` is none.
    package var contentCodings: [String] {
        guard let value = self[.contentEncoding] else { return [] }
        let codings = value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        return codings.filter { $0 != "identity" }.map(String.init)
    }

    /// The body comes as it is: not compressed, by what `Content-Encoding` says.
    package var isIdentityCoded: Bool {
        contentCodings.isEmpty
    }
}
#endif
