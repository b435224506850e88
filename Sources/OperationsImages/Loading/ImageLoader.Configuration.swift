#if Networking
public import HTTPCaching
public import HTTPCore
public import HTTPTypes
public import Operations
public import OperationsNetworking

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ImageLoader {
    /// How a loader loads. Closures are called on any thread, several at once.
    public struct Configuration: Sendable {
        /// Connections, trust, credentials. If it has a cache of its own, responses are kept there by RFC 9111 as well.
        public var session = HTTPSession.shared
        /// Where originals and thumbnails are kept on disk, whatever their responses say of caching; nil for nowhere. May be
        /// the session's.
        public var cache: HTTPCache?
        /// The most bytes of pixels in memory. What was not used for longest goes first.
        public var memoryLimit = 128 << 20
        /// The most images in memory.
        public var memoryCountLimit = Int.max
        /// Transfers at a time, at least 1; see also `ImageLoader.width`.
        public var width = 6
        /// Which transfer begins first, of equal priority.
        public var order = OperationQueue.PriorityPolicy.Order.firstInFirstOut
        public var decoder: any ImageDecoder = StandardImageDecoder()
        /// Images decoded at a time, each on a thread; at least 1.
        public var decodingWidth = 2
        /// What memory and disk know an address by, such as the address without a signature that changes. Who changes it
        /// finds nothing of what was kept. A name and password in what it answers, and fields with credentials in
        /// `ImageLoadOptions.request`, are replaced by their digest. It does not know the session's credentials, nor
        /// those that the request modifier adds: give each of their users a cache, or a key that names the user.
        public var cacheKey: @Sendable (String) -> String = { $0 }
        /// For so long an address that has failed is not asked again; zero for not at all. Cancelled transfers, time-outs,
        /// lost connections, statuses that may pass such as 429 and 503, and what the request modifier refuses are not remembered.
        public var failureMemory = Duration.seconds(60)
        /// Of progress that is told, as a part of the whole; where that is not known, the step is 64 KiB.
        public var minimumProgressStep = 0.01
        /// Types of responses that are taken, besides those without one; empty for all. What the bytes are is seen from the
        /// bytes.
        public var acceptableTypes: [MediaRange] = ["image/*", "application/octet-stream", "binary/octet-stream"]
        /// Thumbnails of up to so many bytes of pixels are kept on disk, as pixels; larger ones are made of the original
        /// again.
        public var storedVariantLimit = 4 << 20
        /// Changes the request of a transfer, once for all who share it; nil refuses it. It may suspend; transfers begin in the
        /// order in which their requests are ready.
        public var requestModifier: (@Sendable (HTTPOperationRequest) async -> HTTPOperationRequest?)?
        /// Changes the head of a response, before its status and type are judged; nil refuses it.
        public var responseModifier: (@Sendable (HTTPResponse) -> HTTPResponse?)?
        /// Makes image files of what was loaded. On disk they stay encrypted, and with it no thumbnails are kept there.
        public var decryptor: (@Sendable (Data) throws -> Data)?
        var ticker = Ticker(ContinuousClock())

        public init() {}

        /// How long failures are remembered is measured by this clock. Time-outs are measured by the session's.
        public mutating func setClock(_ clock: some Clock<Duration>) { ticker = Ticker(clock) }
    }
}
#endif
