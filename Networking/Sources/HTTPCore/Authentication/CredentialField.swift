package import HTTPTypes

extension HTTPField.Name {
    /// Whether fields of this name contain credentials: Authorization, Proxy-Authorization, Cookie and the names in
    /// `names`, in any case. A request sends such fields to one origin only.
    package func isCredential(or names: Set<String>) -> Bool {
        switch self {
        case .authorization, .proxyAuthorization, .cookie: true
        default: names.contains { $0.lowercased() == canonicalName }
        }
    }
}
