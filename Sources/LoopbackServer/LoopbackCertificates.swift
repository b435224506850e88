#if Networking
/// What a client of a TLS server trusts or pins.
public struct LoopbackCertificates: Sendable {
    /// The root to trust. An untrusted server's certificate comes from another one.
    public let rootDER: [UInt8]
    public let rootPEM: String
    /// The certificate that the server presents.
    public let leafDER: [UInt8]
    public let leafPEM: String
    /// The leaf's public key as `SubjectPublicKeyInfo`, of which pins are digests.
    public let leafPublicKeyDER: [UInt8]
}
#endif
