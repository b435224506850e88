#if Networking
extension LoopbackServer {
    /// How a server is reached and what it keeps.
    public struct Configuration: Sendable {
        public enum TransportProtocol: String, Sendable, CaseIterable {
            case http1
            case http1TLS
            /// TLS, and HTTP/2 for whoever offers it; HTTP/1.1 for the others.
            case http2

            public var isEncrypted: Bool { self != .http1 }
        }

        /// What the server shows under TLS.
        public enum Certificate: String, Sendable, CaseIterable {
            /// For `localhost` and 127.0.0.1, issued by the root.
            case valid
            /// For the same, issued by a root that nobody has.
            case untrusted
            /// Issued by the root for `wrong.invalid`.
            case wrongHost
            /// Issued by the root; it ended yesterday.
            case expired
        }

        public var `protocol`: TransportProtocol
        public var certificate: Certificate
        /// Whether TLS is 1.1 at most, as of servers that are long out of date.
        public var speaksOldTLSOnly = false
        /// Who issues the certificate; nil for an authority of this server's own.
        public var authority: LoopbackAuthority?
        /// The most bytes of a request's body that is kept. For more the answer is 413, and the connection is closed.
        public var bodyLimit = 64 << 20
        /// Whether `LoopbackRequest.body` is there. Without, only length and digest are, and there is no limit.
        public var keepsBodies = true
        /// How many requests `LoopbackServer.requests` has at least, the latest.
        public var keptRequests = 10_000
        /// Answers a request as soon as its head is there, though its body may still come. What comes of it later is
        /// thrown away, and an HTTP/1.1 connection is closed after the answer.
        public var answersEarly: @Sendable (LoopbackRequest) -> Bool = { _ in false }
        /// Called with a request's head: until the gate that it answers is open no more of the body is read, so that an
        /// upload stalls. HTTP/1.1.
        public var readsBodyAfter: @Sendable (LoopbackRequest) -> LoopbackGate? = { _ in nil }

        public init(
            protocol: TransportProtocol = .http1, certificate: Certificate = .valid, authority: LoopbackAuthority? = nil
        ) {
            self.protocol = `protocol`
            self.certificate = certificate
            self.authority = authority
        }
    }
}
#endif
