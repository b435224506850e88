#if Networking
import Crypto
import HTTPCore
import NIOCore
public import NIOSSL

/// Whom a session trusts (rule R9). As it is made: the system's roots, and the host's name is checked. Connections use TLS
/// 1.2 or 1.3; a server that knows older versions only is refused.
public struct HTTPTrust: Sendable {
    /// Trusted besides the system's roots.
    public var additionalRoots: [NIOSSLCertificate] = []
    /// Do without the system's roots.
    public var onlyAdditionalRoots = false
    /// If there are any, the server's certificate or key has to be one of them, besides being trusted.
    public var pins: Set<Pin> = []
    /// Off, anybody is trusted who has any certificate. Each session that is made so says so on the standard error.
    public var isVerificationOn = true

    public init() {}

    /// What a server has to present.
    public enum Pin: Sendable, Hashable {
        /// The SHA-256 of its certificate in DER.
        case certificate(sha256: [UInt8])
        /// The SHA-256 of its public key, as `SubjectPublicKeyInfo` in DER.
        case publicKey(sha256: [UInt8])
    }

    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // Both older versions are obsolete (RFC 8996).
        configuration.minimumTLSVersion = .tlsv12
        if onlyAdditionalRoots {
            configuration.trustRoots = .certificates(additionalRoots)
        } else if !additionalRoots.isEmpty {
            configuration.additionalTrustRoots = [.certificates(additionalRoots)]
        }
        if !isVerificationOn { configuration.certificateVerification = .none }
        return configuration
    }

    /// Nothing has been sent on this connection yet; it is closed when its server is not one of those pinned.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard !pins.isEmpty else { return channel.eventLoop.makeSucceededVoidFuture() }
        let pins = pins
        return channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let certificate, try Self.names(of: certificate).contains(where: pins.contains) else {
                throw PinMismatch()
            }
        }.flatMapErrorThrowing { error in
            channel.close(promise: nil)
            throw error
        }
    }

    private static func names(of certificate: NIOSSLCertificate) throws -> [Pin] {
        let key = try certificate.extractPublicKey().toSPKIBytes()
        return [
            .certificate(sha256: Array(SHA256.hash(data: try certificate.toDERBytes()))),
            .publicKey(sha256: Array(SHA256.hash(data: key))),
        ]
    }
}

/// The server is trusted, but none of those that were pinned.
public struct PinMismatch: Error, CustomStringConvertible {
    public var description: String { "the server's certificate is none of those pinned" }
}
#endif
