extension HTTPTestServer {
    /// The protocol, the certificate and the limits of a server.
    public struct Configuration: Sendable {
        /// The transport protocol of a server.
        public enum TransportProtocol: String, Sendable, CaseIterable {
            case http1
            case http1TLS
            /// TLS, with HTTP/2 for clients that offer it and HTTP/1.1 for other clients.
            case http2

            /// Whether the protocol uses TLS.
            public var isEncrypted: Bool { self != .http1 }
        }

        /// The certificate that the server presents under TLS.
        public enum Certificate: String, Sendable, CaseIterable {
            /// A certificate for `localhost` and 127.0.0.1 from the root.
            case valid
            /// A certificate for `localhost` and 127.0.0.1 from another root, which no client trusts.
            case untrusted
            /// A certificate for `wrong.invalid` from the root.
            case wrongHost
            /// A certificate from the root that expired yesterday.
            case expired
        }

        /// The transport protocol of the server.
        public var `protocol`: TransportProtocol
        /// The certificate that the server presents under TLS.
        public var certificate: Certificate
        /// Whether the server supports no TLS version above 1.1, like obsolete servers.
        public var speaksOldTLSOnly = false
        /// The authority that issues the certificate. Nil for a new authority of the server.
        public var authority: LoopbackAuthority?
        /// The maximum size of a request's body in bytes. The server answers a larger body with 413 and closes the
        /// connection.
        public var bodyLimit = 64 << 20
        /// Whether the server keeps the bodies of requests. If false, requests have only the length and the digest of
        /// the body, and `bodyLimit` does not apply.
        public var keepsBodies = true
        /// The minimum number of recent requests that `HTTPTestServer.requests` keeps.
        public var keptRequests = 10_000
        /// Returns whether the server answers a request when the head arrives, before the body. The server then
        /// discards the body, and closes an HTTP/1.1 connection after the response.
        public var answersEarly: @Sendable (LoopbackRequest) -> Bool = { _ in false }
        /// Returns a gate for a request's head, or nil. The server reads no more of the body until the gate opens, so
        /// that the upload stalls. The function has an effect over HTTP/1.1 only.
        public var readsBodyAfter: @Sendable (LoopbackRequest) -> LoopbackGate? = { _ in nil }

        /// Creates a configuration. The default is HTTP/1.1 without TLS.
        public init(
            protocol: TransportProtocol = .http1, certificate: Certificate = .valid, authority: LoopbackAuthority? = nil
        ) {
            self.protocol = `protocol`
            self.certificate = certificate
            self.authority = authority
        }
    }
}
