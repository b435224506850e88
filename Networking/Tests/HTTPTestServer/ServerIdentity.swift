import NIOSSL

/// The certificates and the TLS configuration of a server.
struct ServerIdentity: Sendable {
    let context: NIOSSLContext
    let certificates: LoopbackCertificates

    /// Returns nil for a server without TLS.
    init?(_ configuration: HTTPTestServer.Configuration) throws(LoopbackError) {
        guard configuration.protocol.isEncrypted else { return nil }
        do {
            let authority = try configuration.authority ?? LoopbackAuthority()
            let issuer = configuration.certificate == .untrusted ? try LoopbackAuthority() : authority
            let leaf = try issuer.leaf(configuration.certificate)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: leaf.der, format: .der))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: leaf.privateKeyDER, format: .der)))
            tls.applicationProtocols = configuration.protocol == .http2 ? ["h2", "http/1.1"] : ["http/1.1"]
            if configuration.speaksOldTLSOnly {
                (tls.minimumTLSVersion, tls.maximumTLSVersion) = (.tlsv1, .tlsv11)
            }
            context = try NIOSSLContext(configuration: tls)
            certificates = LoopbackCertificates(
                rootDER: authority.rootDER, rootPEM: authority.rootPEM, leafDER: leaf.der, leafPEM: leaf.pem,
                leafPublicKeyDER: leaf.publicKeyDER)
        } catch let error as LoopbackError {
            throw error
        } catch {
            throw .noCertificates(error)
        }
    }
}
