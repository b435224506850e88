#if Networking
package import HTTPTypes

extension HTTPField.Name {
    /// Whether fields of this name hold credentials: Authorization, Proxy-Authorization, Cookie, and those of these names, in
    /// any case. They go to one origin only.
    package func isCredential(or names: Set<String>) -> Bool {
        switch self {
        case .authorization, .proxyAuthorization, .cookie: true
        default: names.contains { $0.lowercased() == canonicalName }
        }
    }
}
#endif
