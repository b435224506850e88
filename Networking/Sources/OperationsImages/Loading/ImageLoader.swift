import HTTPCore
public import Operations
public import OperationsNetworking

/// A loader that gets images from memory, from disk or from the network, in this order. All methods are safe to call
/// from any thread.
///
/// ```swift
/// var configuration = ImageLoader.Configuration()
/// configuration.cache = try HTTPCache(directory: URL.homeDirectory.appending(path: ".cache/photos"))
/// let loader = ImageLoader(configuration)
/// let handle = loader.load("https://example.org/photo.jpg", options: .thumbnail(256))
/// let photo = try await handle.value.image
/// ```
///
/// Equal requests share all work, and requests for other sizes share the transfer. When the loader is deallocated, its
/// requests continue. If the loader is suspended at that time, all of its requests are cancelled.
public final class ImageLoader: Sendable {
    let pipeline: ImagePipeline

    /// Creates a loader.
    public init(_ configuration: Configuration = Configuration()) { pipeline = ImagePipeline(configuration) }

    deinit {
        // The program may have suspended the queue itself.
        guard isSuspended else { return pipeline.applySuspension() }
        // Without the loader no code could resume the queue. A cancelled operation ends when it starts.
        cancelAll()
        isSuspended = false
    }

    /// The configuration of the loader.
    public var configuration: Configuration { pipeline.configuration }

    // MARK: - Images

    /// Requests an image. An image in memory is available in `ImageRequestHandle.result` when the method returns. An
    /// address that has failed recently fails again immediately.
    public func load(
        _ url: String, options: ImageLoadOptions = ImageLoadOptions(), priority: Operation.QueuePriority = .normal
    ) -> ImageRequestHandle {
        pipeline.load(url, options, priority)
    }

    /// Returns the image in memory, or nil. The method never waits, and counts as a use of the image.
    public func imageInMemory(_ url: String, options: ImageLoadOptions = ImageLoadOptions()) -> DecodedImage? {
        pipeline.imageInMemory(url, options)
    }

    // MARK: - Transfers

    /// The maximum number of concurrent transfers, at least 1. A change takes effect immediately, also for waiting
    /// transfers.
    public var maxConcurrentTransfers: Int {
        get { pipeline.client.queue.maxConcurrentOperationCount }
        set { pipeline.client.queue.maxConcurrentOperationCount = max(1, newValue) }
    }

    /// The order of transfers with equal priority. A change takes effect immediately, also for waiting transfers.
    public var order: OperationQueue.PriorityPolicy.Order {
        get { pipeline.order }
        set { pipeline.order = newValue }
    }

    /// Whether the loader starts no transfers. Running transfers continue, and images that need no transfer still
    /// arrive.
    public var isSuspended: Bool {
        get { pipeline.isSuspended }
        set { pipeline.isSuspended = newValue }
    }

    /// Cancels all requests, which fail with `ImageLoadError.Reason.cancelled`.
    public func cancelAll() { pipeline.cancelAll() }

    /// Suspends until no request waits for an image, and all loaded images are on disk.
    public func waitUntilIdle() async { await pipeline.waitUntilIdle() }

    /// The operation queue of the transfers, for snapshots and events. The loader suspends the queue while files wait for
    /// decoding or for the disk, as `Configuration.backlogLimit` explains, and then resumes it. To suspend the transfers, use
    /// ``isSuspended``.
    public var queue: OperationQueue { pipeline.client.queue }

    /// A stream of the events of transfers from now on. The stream ends when the loader is deallocated and its last
    /// transfer has ended.
    public var requestEvents: AsyncStream<HTTPEvent> { pipeline.client.requestEvents }

    // MARK: - Stored images and failures

    /// The size of the pixels in memory, in bytes.
    public var memoryByteCount: Int { pipeline.state.withLock { $0.memory.cost } }

    /// The number of images in memory.
    public var memoryCount: Int { pipeline.state.withLock { $0.memory.count } }

    /// Removes all images from memory.
    public func clearMemory() { pipeline.clearMemory() }

    /// Clears the memory of recent failures.
    public func clearFailureCache() { pipeline.clearFailureCache() }

    /// Removes all sizes of an image from memory and disk.
    ///
    /// - Parameters:
    ///   - url: The address of the image.
    ///   - options: The options of the load, if their request contains fields with credentials. The method ignores the
    ///     other options.
    public func remove(_ url: String, options: ImageLoadOptions = ImageLoadOptions()) async {
        await pipeline.remove(url, options)
    }
}
