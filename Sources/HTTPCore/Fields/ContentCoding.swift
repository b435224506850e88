#if Networking
package import HTTPTypes

extension HTTPFields {
    /// The body comes as it is: not compressed, by what `Content-Encoding` says.
    package var isIdentityCoded: Bool {
        self[.contentEncoding].map { $0.lowercased() == "identity" || $0.isEmpty } ?? true
    }
}
#endif
