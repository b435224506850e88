import HTTPCaching
import HTTPCore
import HTTPTypes
import Operations
import OperationsNetworking

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of the decisions of `ImageBoard`. Lookups on disk, transfers, decoding and writes to disk have
/// separate queues.
///
/// An image passes through five steps, each in one file: begin (this file), seek, transfer, decode, end.
final class ImagePipeline: Sendable {
    let configuration: ImageLoader.Configuration
    /// The queue of transfers.
    let client: HTTPClientQueue
    /// The queue of lookups, which run one at a time. Transfers are therefore queued in the order of the requests.
    let lookups = OperationQueue()
    let decodings = OperationQueue()
    /// The queue of writes, which run one at a time.
    let writes = OperationQueue()
    let state: Locked<State>
    /// The field Accept of requests without this field.
    private let accept: String

    /// The state under one lock. With several locks, a request between the arrival of an image in memory and the end of
    /// its variant would make the image again.
    struct State {
        var board = ImageBoard()
        var memory: ImageMemory
        var failures: FailureCache
        var backlog: ImageBacklog
        var isSuspended = false
        /// The requests that have not ended.
        var promises: [Int: ImagePromise] = [:]
        var originals: [Int: OriginalWork] = [:]
        /// The operation that looks for a variant or decodes it.
        var operations: [Int: Operation] = [:]
        /// The last write of each name, which runs after the earlier writes of the name.
        var writing: [String: (number: Int, operation: Operation)] = [:]
        var lastWriting = 0
        var idleWaiters: [CheckedContinuation<Void, Never>] = []

        /// Returns the tasks in `waitUntilIdle` if no request waits, and clears the list.
        mutating func takeIdleWaiters() -> [CheckedContinuation<Void, Never>] {
            guard promises.isEmpty else { return [] }
            defer { idleWaiters = [] }
            return idleWaiters
        }
    }

    init(_ configuration: ImageLoader.Configuration) {
        self.configuration = configuration
        let types = configuration.decoder.types.map(\.description)
        accept = (types + ["*/*;q=0.1"]).joined(separator: ", ")
        client = HTTPClientQueue(
            withoutTurns: max(1, configuration.maxConcurrentTransfers), session: configuration.session)
        state = Locked(
            State(
                memory: ImageMemory(
                    costLimit: configuration.memoryLimit, countLimit: configuration.memoryCountLimit),
                failures: FailureCache(duration: configuration.failureCacheDuration),
                backlog: ImageBacklog(limit: configuration.backlogLimit)))
        (client.queue.name, lookups.name) = ("images", "images, lookups on disk")
        (decodings.name, writes.name) = ("images, decoding", "images, writing to disk")
        lookups.maxConcurrentOperationCount = 1
        decodings.maxConcurrentOperationCount = max(1, configuration.maxConcurrentDecodings)
        writes.maxConcurrentOperationCount = 1
        order = configuration.order
    }

    var order: OperationQueue.PriorityPolicy.Order {
        get { client.queue.priorityPolicy.order }
        set { client.queue.priorityPolicy = .init(order: newValue) }
    }

    // MARK: - Begin

    func load(_ url: String, _ options: ImageLoadOptions, _ priority: Operation.QueuePriority) -> ImageRequestHandle {
        let (name, now, policy) = (name(of: url, options), configuration.ticker.now(), options.cache)
        let shown = HTTPAddress.redacted(url)
        let original = ImageBoard.OriginalKey(
            request: request(for: url, options), name: name, policy: policy,
            changes: configuration.session.changeCount)
        let key = ImageBoard.VariantKey(original: original, decoding: options.decoding)
        let demand = TransferDemand(priority)
        func promise(_ participant: ImageParticipant? = nil, _ result: ImagePromise.Outcome? = nil) -> ImagePromise {
            ImagePromise(
                url: shown, cancellation: ImageLoadError(.cancelled, url: shown), demand: demand,
                minimumStep: configuration.minimumProgressStep, participant: participant, result: result)
        }
        let (promise, joining) = state.withLock { state -> (ImagePromise, ImageBoard.Joining?) in
            let memoryKey = ImageMemory.Key(name, options.decoding)
            if policy.readsMemory, !policy.refreshes, let image = state.memory.use(memoryKey) {
                return (promise(nil, .success(LoadedImage(image: image, source: .memory, url: shown))), nil)
            }
            if !options.retryFailed,
                let failure = state.failures.failure(of: original.failureName, decoding: options.decoding, now: now)
            {
                let error = ImageLoadError(.failedBefore(failure.reason), url: shown, response: failure.response)
                return (promise(nil, .failure(error)), nil)
            }
            let joining = state.board.join(key, demand)
            let promise = promise(ImageParticipant(pipeline: self, waiter: joining.waiter))
            state.promises[joining.waiter] = promise
            if state.originals[joining.original] == nil { state.originals[joining.original] = OriginalWork() }
            return (promise, joining)
        }
        if let joining {
            if joining.begins { begin(joining.variant, key, priority) }
            applyDemand(variant: joining.variant, original: joining.original)
        }
        return ImageRequestHandle(promise)
    }

    private func request(for url: String, _ options: ImageLoadOptions) -> HTTPRequestDescription {
        var request = options.request
        (request.url, request.method, request.body) = (url, .get, .none)
        if request.fields[.accept] == nil { request.fields[.accept] = accept }
        if options.cache.refreshes, request.cachePolicy == .default { request.cachePolicy = .revalidate }
        return request
    }

    func imageInMemory(_ url: String, _ options: ImageLoadOptions) -> DecodedImage? {
        let name = name(of: url, options)
        return state.withLock { $0.memory.use(ImageMemory.Key(name, options.decoding)) }
    }

    // MARK: - Priorities and pauses

    func set(_ demand: TransferDemand, of waiter: Int) {
        let change = state.withLock { $0.board.set(demand, of: waiter) }
        if let change { applyDemand(variant: change.variant, original: change.original) }
    }

    /// Gives the operation of a variant and the transfer of an original the demand of their waiters.
    func applyDemand(variant: Int? = nil, original: Int? = nil) {
        var applied: (TransferDemand?, TransferDemand?)?
        while true {
            let (demands, operation, http) = state.withLock { state in
                (
                    (
                        variant.flatMap { state.board.demand(ofVariant: $0) },
                        original.flatMap { state.board.demand(ofOriginal: $0) }
                    ),
                    variant.flatMap { state.operations[$0] }, original.flatMap { state.originals[$0]?.http }
                )
            }
            // The loop checks again after a change, because a concurrent call can apply an older demand later.
            if let applied, applied == demands { return }
            if let operation, let priority = demands.0?.queuePriority, operation.queuePriority != priority {
                operation.queuePriority = priority
            }
            if let http, let demand = demands.1 { http.promise.update { $0 = demand } }
            applied = demands
        }
    }

    // MARK: - Idle

    func waitUntilIdle() async {
        repeat {
            await withCheckedContinuation { continuation in
                let isIdle = state.withLock { state in
                    if !state.promises.isEmpty { state.idleWaiters.append(continuation) }
                    return state.promises.isEmpty
                }
                if isIdle { continuation.resume() }
            }
            await lookups.waitUntilAllOperationsAreFinished()
            await client.waitUntilIdle()
            await decodings.waitUntilAllOperationsAreFinished()
            await writes.waitUntilAllOperationsAreFinished()
        } while !state.withLock { $0.promises.isEmpty }
    }
}

/// The state of an original during its transfer and after its arrival.
struct OriginalWork {
    /// The task that runs the request modifier.
    var preparing: Task<Void, Never>?
    var http: HTTPRequestHandle<ImageAnswer>?
    var original: Original?
    /// Whether the original is stored on disk or is being stored.
    var isStored = false
    /// Whether a request needs the progress.
    var reportsProgress = false
    /// The last report.
    var progress: TransferProgress?
}

/// An image file as the decoder receives it.
final class Original: Sendable {
    let bytes: [UInt8]
    let kept: Kept

    /// The properties of the file.
    struct Kept: Sendable {
        /// The received data, if it differs from the file.
        let encrypted: Data?
        let response: HTTPResponse?
        /// The source of the file.
        let source: LoadedImage.Source
        /// Whether the file comes from the loader's own cache.
        let isStored: Bool
    }

    init(bytes: [UInt8], _ kept: Kept) {
        self.bytes = bytes
        self.kept = kept
    }

    var byteCount: Int { bytes.count + (kept.encrypted?.count ?? 0) }
}

/// The result of a transfer.
struct ImageAnswer: Sendable {
    let body: Data
    let response: HTTPResponse
}

extension HTTPSerializer where Value == ImageAnswer {
    /// A serializer that accepts every status, because the response modifier runs before the check.
    static var imageAnswer: Self {
        Self(acceptableStatuses: nil) { ImageAnswer(body: $0, response: $1) }
    }
}
