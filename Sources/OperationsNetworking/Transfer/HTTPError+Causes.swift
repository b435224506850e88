#if Networking
import AsyncHTTPClient
import HTTPCore
import NIOCore
import NIOSSL

extension HTTPError.Reason {
    /// What an error of the connection, or of async-http-client, means.
    init(_ error: any Error) {
        switch error {
        case let reason as TransferFailure: self = reason.reason
        case is CancellationError: self = .cancelled
        // `cancelled` too: nobody here has cancelled it, but the connection it was on is going away.
        case let error as HTTPClientError: self = Self.reason(error)
        case is PinMismatch: self = .certificateRefused(error)
        case let error as NIOSSLError where Self.isOfCertificate(error): self = .certificateRefused(error)
        case is NIOSSLExtraError: self = .certificateRefused(error)
        case ChannelError.connectTimeout: self = .timedOut(.connect)
        default: self = .connection(error)
        }
    }

    private static func reason(_ error: HTTPClientError) -> HTTPError.Reason {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
            .httpProxyHandshakeTimeout:
            .timedOut(.connect)
        case .readTimeout, .writeTimeout: .timedOut(.idle)
        case .deadlineExceeded: .timedOut(.whole)
        case .invalidURL, .emptyHost, .emptyScheme: .invalidURL
        default: .connection(error)
        }
    }

    private static func isOfCertificate(_ error: NIOSSLError) -> Bool {
        switch error {
        case .noCertificateToValidate, .unableToValidateCertificate: true
        case .handshakeFailed(let cause): "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
        default: false
        }
    }
}

/// A reason on its way to where the address is known.
struct TransferFailure: Error {
    let reason: HTTPError.Reason

    init(_ reason: HTTPError.Reason) { self.reason = reason }
}
#endif
