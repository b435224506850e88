public import HTTPCore
public import HTTPTypes

/// The reason why an image was not loaded.
public struct ImageLoadError: Error, Sendable {
    /// The kind of the failure.
    public let reason: Reason
    /// The requested address without user name and password.
    public let url: String
    /// The head of the response, if a response arrived and caused the failure.
    public let response: HTTPResponse?

    /// Creates an error. `url` must not contain a user name or password.
    public init(_ reason: Reason, url: String, response: HTTPResponse? = nil) {
        self.reason = reason
        self.url = url
        self.response = response
    }

    /// The kinds of failures.
    public indirect enum Reason: Sendable {
        /// The caller cancelled the request by its handle, or called `ImageLoader.cancelAll()`.
        case cancelled
        /// `ImageLoader.Configuration.requestModifier` returned nil.
        case requestRefused
        /// `ImageLoader.Configuration.responseModifier` returned nil.
        case responseRefused
        /// The server answered with 304 to conditions of the caller's request.
        case notModified
        /// The status is not a success.
        case unacceptableStatus(Int)
        /// The type is not one of `ImageLoader.Configuration.acceptableTypes`.
        case unacceptableType(String?)
        /// The data is empty, not an image, without pixels, or too large.
        case image(ImageError)
        /// A custom decoder threw an error that is not an `ImageError`.
        case decoder(any Error)
        /// `ImageLoader.Configuration.decryptor` threw an error.
        case decryption(any Error)
        /// The policy does not allow the network, and the image is neither in memory nor on disk.
        case notCached
        /// The address failed recently for this reason. Set `ImageLoadOptions.retryFailed` to load it again.
        case failedBefore(Reason)
        /// The transfer failed, for example because of the network, a time limit, a redirect or a size limit.
        case transfer(HTTPError.Reason)
    }

    /// Whether the request was cancelled, so that no failure occurred.
    public var isCancellation: Bool { if case .cancelled = reason { true } else { false } }
}

extension ImageLoadError.Reason {
    /// Whether a new request would fail again soon. The value is false for cancellations and for failures of the
    /// network.
    var isRemembered: Bool {
        switch self {
        case .cancelled, .requestRefused, .notModified, .notCached, .failedBefore: false
        case .image(.cancelled), .image(.builtWithoutImages): false
        case .unacceptableStatus(let status): !HTTPError.Reason.unacceptableStatus(status).isRetryable
        case .transfer(let reason): reason.isLasting
        default: true
        }
    }

    /// Whether another size, other frames or a higher limit could succeed.
    var dependsOnDecoding: Bool {
        switch self {
        case .image(.tooLarge), .decoder: true
        default: false
        }
    }

    /// Whether the file on disk is unusable, so that the loader must load it again.
    var isDamage: Bool {
        switch self {
        case .image(.emptyData), .image(.unknownFormat), .image(.zeroSize), .image(.undecodable), .decryption: true
        default: false
        }
    }
}

extension HTTPError.Reason {
    fileprivate var isLasting: Bool {
        switch self {
        case .cancelled, .timedOut, .connection, .certificateRefused, .truncated, .noSpace, .cannotWrite, .cannotRead,
            .notInCache, .alreadyCached, .resumeFailed:
            false
        default: true
        }
    }
}

extension ImageLoadError: CustomStringConvertible {
    /// A description of the failure with the address, for people.
    public var description: String { "\(url): \(reason.explanation)" }
}

extension ImageLoadError.Reason {
    /// A description of the reason in words, which continues a sentence that begins with the address.
    public var explanation: String {
        switch self {
        case .cancelled: "was cancelled"
        case .requestRefused: "was refused by the request modifier"
        case .responseRefused: "the response modifier refused the response"
        case .notModified: "answered with status 304 to the request's own conditions"
        case .unacceptableStatus(let status): "answered with status \(status)"
        case .unacceptableType(let type): "answered with \(type.map { "the type '\($0)'" } ?? "no type")"
        case .image(let error): "\(error)"
        case .decoder(let error): "the decoder failed: \(error)"
        case .decryption(let error): "cannot be decrypted: \(error)"
        case .notCached: "is neither in memory nor on disk, and the policy does not allow the network"
        case .failedBefore(let reason):
            "failed recently: \(reason.explanation); set retryFailed to load it again"
        case .transfer(let reason): reason.explanation
        }
    }
}
