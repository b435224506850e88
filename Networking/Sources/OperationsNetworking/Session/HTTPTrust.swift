import Crypto
import HTTPCore
import NIOCore
import NIOSSL

/// The trust of a session in servers. By default the session trusts the system's roots and checks the host name. Connections
/// use TLS 1.2 or 1.3; servers with only older versions are refused.
public struct HTTPTrust: Sendable {
    /// Root certificates that are trusted in addition to the system's roots.
    public var additionalRoots: [Certificate] = []
    /// Whether only `additionalRoots` are trusted, and not the system's roots.
    public var onlyAdditionalRoots = false
    /// The pinned certificates and keys. If there are any, the server must be trusted and must also match a pin.
    public var pins: Set<Pin> = []
    /// Whether certificates are verified. If false, every certificate is trusted. Each session with this setting prints a
    /// warning to standard error.
    public var isVerificationOn = true

    /// Creates the default trust.
    public init() {}

    /// A certificate that was checked for its form when it was read.
    public struct Certificate: Sendable, Hashable {
        let certificate: NIOSSLCertificate

        /// Reads a certificate in DER.
        ///
        /// - Throws: `InvalidCertificate` if the bytes are not a certificate.
        public init(der: [UInt8]) throws(InvalidCertificate) {
            do { certificate = try NIOSSLCertificate(bytes: der, format: .der) } catch { throw InvalidCertificate() }
        }

        /// Reads all certificates of a text in PEM, such as the contents of a `.pem` file.
        ///
        /// - Throws: `InvalidCertificate` if the text has no certificate, or one that is not valid.
        public static func certificates(pem: [UInt8]) throws(InvalidCertificate) -> [Certificate] {
            do {
                let certificates = try NIOSSLCertificate.fromPEMBytes(pem)
                if !certificates.isEmpty { return certificates.map { Certificate($0) } }
            } catch {}
            throw InvalidCertificate()
        }

        private init(_ certificate: NIOSSLCertificate) { self.certificate = certificate }
    }

    /// An error for bytes that are not a certificate.
    public struct InvalidCertificate: Error, CustomStringConvertible {
        public var description: String { "the bytes are not a valid certificate" }
    }

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
            configuration.trustRoots = .certificates(additionalRoots.map(\.certificate))
        } else if !additionalRoots.isEmpty {
            configuration.additionalTrustRoots = [.certificates(additionalRoots.map(\.certificate))]
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
