import Crypto
import HTTPCore
import NIOCore
public import NIOSSL

/// The trust of a session in servers. By default the session trusts the system's roots and checks the host name. Connections
/// use TLS 1.2 or 1.3; servers with only older versions are refused.
public struct HTTPTrust: Sendable {
    /// Root certificates that are trusted in addition to the system's roots.
    public var additionalRoots: [NIOSSLCertificate] = []
    /// Whether only `additionalRoots` are trusted, and not the system's roots.
    public var onlyAdditionalRoots = false
    /// The pinned certificates and keys. If there are any, the server must be trusted and must also match a pin.
    public var pins: Set<Pin> = []
    /// Whether certificates are verified. If false, every certificate is trusted. Each session with this setting prints a
    /// warning to standard error.
    public var isVerificationOn = true

    /// Creates the default trust.
    public init() {}

    /// A certificate or public key that the server must present.
    public enum Pin: Sendable, Hashable {
        /// The SHA-256 digest of the server's certificate in DER.
        case certificate(sha256: [UInt8])
        /// The SHA-256 digest of the server's public key, as `SubjectPublicKeyInfo` in DER.
        case publicKey(sha256: [UInt8])
    }

    var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // RFC 8996 deprecates TLS 1.0 and 1.1.
        configuration.minimumTLSVersion = .tlsv12
        if onlyAdditionalRoots {
            configuration.trustRoots = .certificates(additionalRoots)
        } else if !additionalRoots.isEmpty {
            configuration.additionalTrustRoots = [.certificates(additionalRoots)]
        }
        if !isVerificationOn { configuration.certificateVerification = .none }
        return configuration
    }

    /// Checks the pins of a new connection before anything is sent. Closes the connection if its server matches no pin.
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

/// An error for a trusted server whose certificate and key match no pin.
public struct PinMismatch: Error, CustomStringConvertible {
    public var description: String { "the server's certificate and key match none of the pins" }
}
