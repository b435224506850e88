#if Networking
public import HTTPCore
public import HTTPTypes

/// Why an image was not loaded (rules I1 to I3).
public struct ImageLoadError: Error, Sendable {
    public let reason: Reason
    /// What was asked for, without user name and password.
    public let url: String
    /// The head of the response, if one came and its image was the trouble.
    public let response: HTTPResponse?

    public init(_ reason: Reason, url: String, response: HTTPResponse? = nil) {
        self.reason = reason
        self.url = url
        self.response = response
    }

    public indirect enum Reason: Sendable {
        /// By who has the token, or by `ImageLoader.cancelAll()`.
        case cancelled
        /// `ImageLoader.Configuration.requestModifier` has answered nil.
        case requestRefused
        /// `ImageLoader.Configuration.responseModifier` has answered nil.
        case responseRefused
        /// 304 to conditions that the request brought itself.
        case notModified
        /// The status is none of success.
        case unacceptableStatus(Int)
        /// The type is none of `ImageLoader.Configuration.acceptableTypes`.
        case unacceptableType(String?)
        /// There are no bytes, no pixels, too many pixels, or what is no image.
        case image(ImageError)
        /// A decoder of your own has thrown something else than an `ImageError`.
        case decoder(any Error)
        /// `ImageLoader.Configuration.decryptor` has thrown.
        case decryption(any Error)
        /// The policy forbids the network, and the image is neither in memory nor on disk.
        case notCached
        /// It has failed a short while ago, for this reason. Set `ImageLoadOptions.retryFailed` to ask nevertheless.
        case failedBefore(Reason)
        /// The transfer failed: the network, time-outs, redirects, limits.
        case transfer(HTTPError.Reason)
    }

    /// It was given up; nothing went wrong.
    public var isCancellation: Bool { if case .cancelled = reason { true } else { false } }
}

extension ImageLoadError.Reason {
    /// Asking again soon would end the same way (rule I1). Not so for what was given up, and for the network's own troubles.
    var isRemembered: Bool {
        switch self {
        case .cancelled, .requestRefused, .notModified, .notCached, .failedBefore: false
        case .image(.cancelled), .image(.builtWithoutImages): false
        case .unacceptableStatus(let status): !HTTPError.Reason.unacceptableStatus(status).isRetryable
        case .transfer(let reason): reason.isLasting
        default: true
        }
    }

    /// Another size, other frames, or a higher limit may do.
    var dependsOnDecoding: Bool {
        switch self {
        case .image(.tooLarge), .decoder: true
        default: false
        }
    }

    /// What is on disk is worth nothing: it is to be loaded again.
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
            .notInCache, .alreadyCached, .notContinued:
            false
        default: true
        }
    }
}

extension ImageLoadError: CustomStringConvertible {
    /// What went wrong, with the address, for people.
    public var description: String { "\(url): \(reason.explanation)" }
}

extension ImageLoadError.Reason {
    /// In words.
    public var explanation: String {
        switch self {
        case .cancelled: "was cancelled"
        case .requestRefused: "the request modifier refuses it"
        case .responseRefused: "the response modifier refuses the response"
        case .notModified: "has not changed since what the request's own conditions name"
        case .unacceptableStatus(let status): "answered with status \(status)"
        case .unacceptableType(let type): "answered with \(type.map { "the type '\($0)'" } ?? "no type")"
        case .image(let error): "\(error)"
        case .decoder(let error): "the decoder fails: \(error)"
        case .decryption(let error): "cannot be decrypted: \(error)"
        case .notCached: "is neither in memory nor on disk, and the policy forbids the network"
        case .failedBefore(let reason):
            "has failed a short while ago: \(reason.explanation); set retryFailed to ask again"
        case .transfer(let reason): reason.explanation
        }
    }
}
#endif
