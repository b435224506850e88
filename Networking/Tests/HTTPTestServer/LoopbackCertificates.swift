/// The certificates that a client of a TLS server can trust or pin.
public struct LoopbackCertificates: Sendable {
    /// The root certificate to trust. The certificate of an untrusted server comes from another root.
    public let rootDER: [UInt8]
    /// The root certificate in PEM.
    public let rootPEM: String
    /// The certificate that the server presents, in DER.
    public let leafDER: [UInt8]
    /// The certificate that the server presents, in PEM.
    public let leafPEM: String
    /// The public key of the server's certificate as `SubjectPublicKeyInfo`. Pins are digests of this value.
    public let leafPublicKeyDER: [UInt8]
}
