import AsyncHTTPClient
import HTTPCore
import NIOCore
import NIOSSL
import Operations

extension HTTPError.Reason {
    /// The reason for an error of the connection or of async-http-client.
    init(_ error: any Error) {
        switch error {
        case let reason as TransferFailure: self = reason.reason
        case is CancellationError: self = .cancelled
        case is OperationTimeout: self = .timedOut(.total)
        // `HTTPClientError.cancelled` is no cancellation by the caller: its connection is closing.
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
        case .deadlineExceeded: .timedOut(.total)
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

/// A reason without an address. Callers add the address.
struct TransferFailure: Error {
    let reason: HTTPError.Reason

    init(_ reason: HTTPError.Reason) { self.reason = reason }
}
