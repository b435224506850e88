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
    /// The configuration of a loader. The loader calls the closures on any thread and concurrently.
    public struct Configuration: Sendable {
        /// The session with connections, trust and credentials. If the session has a cache, it stores the responses
        /// according to RFC 9111 in addition.
        public var session = HTTPSession.shared
        /// The cache on disk for originals and thumbnails, or nil. The loader stores an image regardless of the caching
        /// headers in the response. The cache can be the session's cache.
        public var cache: HTTPCache?
        /// The maximum size of the pixels in memory, in bytes. The loader evicts the least recently used images first.
        public var memoryLimit = 128 << 20
        /// The maximum number of images in memory.
        public var memoryCountLimit = Int.max
        /// The maximum number of concurrent transfers, at least 1. See also `ImageLoader.maxConcurrentTransfers`.
        public var maxConcurrentTransfers = 6
        /// The order of transfers with equal priority.
        public var order = OperationQueue.PriorityPolicy.Order.firstInFirstOut
        /// The decoder of images.
        public var decoder: any ImageDecoder = StandardImageDecoder()
        /// The maximum number of images that the loader decodes concurrently, each on one thread. At least 1.
        public var maxConcurrentDecodings = 2
        /// The size of the files and thumbnails that may wait in memory for decoding or for the disk, in bytes. While more
        /// bytes wait, the loader starts no transfers and no lookups on disk. Running transfers continue.
        public var backlogLimit = 64 << 20
        /// Returns the name of an address in memory and on disk. Use the function, for example, to remove a signature
        /// that changes. After a change of the function the loader does not find the images that it stored before.
        ///
        /// The loader replaces a name and password in the result, and fields with credentials in
        /// `ImageLoadOptions.request`, by their digest. The loader does not know the credentials of the session or of
        /// the request modifier. If users have different credentials there, use a separate cache for each user, or a
        /// key that contains the user.
        public var cacheKey: @Sendable (String) -> String = { $0 }
        /// The time for which the loader does not request an address again after a failure. Zero turns the failure
        /// memory off. The loader does not remember cancelled transfers, exceeded time limits and lost connections. The
        /// loader also does not remember temporary statuses such as 429 and 503, and requests that the request modifier
        /// refuses.
        public var failureCacheDuration = Duration.seconds(60)
        /// The minimum step between two progress reports, as a fraction of the whole. If the length is unknown, the
        /// step is 64 KiB.
        public var minimumProgressStep = 0.01
        /// The accepted types of responses, or an empty array for all types. The loader also accepts responses without
        /// a type. The bytes determine the format.
        public var acceptableTypes: [MediaRange] = ["image/*", "application/octet-stream", "binary/octet-stream"]
        /// The maximum size of a thumbnail that the loader stores on disk as pixels, in bytes. The loader makes larger
        /// thumbnails from the original again.
        public var storedVariantLimit = 4 << 20
        /// A function that changes the request of a transfer, or returns nil to refuse the request. The loader calls
        /// the function once for all callers that share the transfer. The function can suspend. Transfers begin in the
        /// order in which their requests are ready.
        public var requestModifier: (@Sendable (HTTPRequestDescription) async -> HTTPRequestDescription?)?
        /// A function that changes the head of a response, or returns nil to refuse the response. The loader then
        /// checks the status and the type of the result.
        public var responseModifier: (@Sendable (HTTPResponse) -> HTTPResponse?)?
        /// A function that decrypts the loaded data to an image file. The loader stores the encrypted data on disk, and
        /// does not store thumbnails.
        public var decryptor: (@Sendable (Data) throws -> Data)?
        var ticker = Ticker(ContinuousClock())

        /// Creates a configuration without a cache on disk.
        public init() {}

        /// Sets the clock that measures `failureCacheDuration`. The session's clock measures time limits.
        public mutating func setClock(_ clock: some Clock<Duration>) { ticker = Ticker(clock) }
    }
}
