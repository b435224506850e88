import Crypto
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SwiftASN1
import X509

/// A certificate authority for tests. A client that trusts the authority's root trusts all servers of the authority.
public struct LoopbackAuthority: Sendable {
    private let name: DistinguishedName
    private let key: Certificate.PrivateKey
    private let root: Certificate
    /// The root certificate in DER.
    public let rootDER: [UInt8]
    /// The root certificate in PEM.
    public let rootPEM: String

    /// Creates a key and a root certificate.
    ///
    /// - Throws: ``LoopbackError/noCertificates(_:)``.
    public init() throws(LoopbackError) {
        do {
            let name = try DistinguishedName {
                CommonName("Loopback test root")
                OrganizationName("HTTPTestServer")
            }
            let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
            let root = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: key.publicKey,
                notValidBefore: .now.addingTimeInterval(-365 * 86400),
                notValidAfter: .now.addingTimeInterval(365 * 86400), issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true))
                    SubjectKeyIdentifier(hash: key.publicKey)
                }, issuerPrivateKey: key)
            (self.name, self.key, self.root) = (name, key, root)
            rootDER = try root.derBytes
            rootPEM = try root.serializeAsPEM().pemString
        } catch {
            throw .noCertificates(error)
        }
    }

    /// Creates a key and a certificate for a server.
    func leaf(_ kind: HTTPTestServer.Configuration.Certificate) throws -> Leaf {
        let key = P256.Signing.PrivateKey()
        let publicKey = Certificate.PublicKey(key.publicKey)
        let expires = kind == .expired ? Date.now.addingTimeInterval(-86400) : Date.now.addingTimeInterval(7 * 86400)
        let isWrong = kind == .wrongHost
        let subject = try DistinguishedName { CommonName(isWrong ? "wrong.invalid" : "localhost") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey,
            notValidBefore: .now.addingTimeInterval(-30 * 86400), notValidAfter: expires, issuer: name,
            subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(
                    isWrong
                        ? [.dnsName("wrong.invalid")]
                        : [.dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: self.key)
        return Leaf(
            der: try certificate.derBytes, pem: try certificate.serializeAsPEM().pemString,
            publicKeyDER: Array(key.publicKey.derRepresentation), privateKeyDER: Array(key.derRepresentation))
    }

    /// The certificate and the key of a server.
    struct Leaf: Sendable {
        let der: [UInt8]
        let pem: String
        let publicKeyDER: [UInt8]
        let privateKeyDER: [UInt8]
    }
}

extension Certificate {
    fileprivate var derBytes: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}
