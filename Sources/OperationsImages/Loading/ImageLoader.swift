#if Networking
import HTTPCore
public import Operations
public import OperationsNetworking

/// Loads images: from memory, else from disk, else from the network (rules I1 to I3). Safe on any thread.
///
/// ```swift
/// var configuration = ImageLoader.Configuration()
/// configuration.cache = try HTTPCache(directory: URL.cachesDirectory.appending(path: "photos"))
/// let loader = ImageLoader(configuration)
/// let token = loader.load("https://example.org/photo.jpg", options: .thumbnail(256))
/// let photo = try await token.value.image
/// ```
///
/// Who asks for the same shares the work; who asks for another size shares the transfer. What is under way when the loader is
/// let go is finished; what a suspended loader keeps waiting is cancelled then.
public final class ImageLoader: Sendable {
    let pipeline: ImagePipeline

    public init(_ configuration: Configuration = Configuration()) { pipeline = ImagePipeline(configuration) }

    deinit {
        guard isSuspended else { return }
        // Nobody could resume it. What is cancelled ends as soon as it is started.
        cancelAll()
        isSuspended = false
    }

    public var configuration: Configuration { pipeline.configuration }

    // MARK: - Images

    /// Asks for an image. What is in memory is there when this returns, and an address that has failed a short while ago fails
    /// again; see `ImageToken.outcomeSoFar`.
    public func load(
        _ url: String, options: ImageLoadOptions = ImageLoadOptions(), priority: Operation.QueuePriority = .normal
    ) -> ImageToken {
        pipeline.load(url, options, priority)
    }

    /// What is in memory, without waiting and without asking anybody. Counts as a use.
    public func imageInMemory(_ url: String, options: ImageLoadOptions = ImageLoadOptions()) -> DecodedImage? {
        pipeline.imageInMemory(url, options)
    }

    // MARK: - Steering

    /// Transfers at a time. Takes effect at once, lowered also for what waits; at least 1.
    public var width: Int {
        get { pipeline.client.queue.maxConcurrentOperationCount }
        set { pipeline.client.queue.maxConcurrentOperationCount = max(1, newValue) }
    }

    /// Which transfer begins first, of equal priority. Holds at once, also for what waits.
    public var order: OperationQueue.PriorityPolicy.Order {
        get { pipeline.order }
        set { pipeline.order = newValue }
    }

    /// No transfer begins meanwhile. What transfers goes on, and so does what needs no transfer.
    public var isSuspended: Bool {
        get { pipeline.client.isSuspended }
        set { pipeline.client.isSuspended = newValue }
    }

    /// Each of those who wait gets an `ImageLoadError` that says so.
    public func cancelAll() { pipeline.cancelAll() }

    /// Suspends until nobody waits for an image, and what was loaded is on disk.
    public func waitUntilIdle() async { await pipeline.waitUntilIdle() }

    /// Where the transfers run, for its snapshots and events.
    public var queue: OperationQueue { pipeline.client.queue }

    /// What happens to the transfers from now on, as it happens. Ends with the loader and its last transfer.
    public var requestEvents: AsyncStream<HTTPEvent> { pipeline.client.requestEvents }

    // MARK: - What is kept

    /// Bytes of pixels in memory.
    public var memoryByteCount: Int { pipeline.state.withLock { $0.memory.cost } }

    /// Images in memory.
    public var memoryCount: Int { pipeline.state.withLock { $0.memory.count } }

    /// Lets go of what is in memory.
    public func clearMemory() { pipeline.clearMemory() }

    /// The failures that are remembered are so no longer.
    public func forgetFailures() { pipeline.forgetFailures() }

    /// Removes an image from memory and disk, in all sizes.
    ///
    /// - Parameter options: Those it was loaded with, if their request has fields with credentials; the others do not count.
    public func remove(_ url: String, options: ImageLoadOptions = ImageLoadOptions()) async {
        await pipeline.remove(url, options)
    }
}
#endif
