import HTTPCore
import HTTPTypes
import Operations
import OperationsNetworking

// Step 5 of 5: the image or the failure.
extension ImagePipeline {
    /// The objects of ended requests, which the pipeline releases without the lock.
    private struct Ended {
        var promises: [ImagePromise] = []
        /// The originals that other variants still need.
        var remaining: Set<Int> = []
        var operations: [Operation?] = []
        var originals: [OriginalWork?] = []
        var images: [DecodedImage] = []
        var failures: [FailureCache.Failure?] = []
        var idleWaiters: [CheckedContinuation<Void, Never>] = []

        mutating func add(_ ending: ImageBoard.Ending, from state: inout State) {
            promises += ending.waiters.compactMap { state.promises.removeValue(forKey: $0) }
            operations.append(state.operations.removeValue(forKey: ending.variant))
            if ending.isLast {
                originals.append(state.originals.removeValue(forKey: ending.original))
                remaining.remove(ending.original)
            } else {
                remaining.insert(ending.original)
            }
            idleWaiters += state.takeIdleWaiters()
        }

        /// Ends the requests. Only paused requests may remain for an original.
        func finish(in pipeline: ImagePipeline, _ result: (ImagePromise) -> ImagePromise.Outcome) {
            for original in remaining { pipeline.applyDemand(original: original) }
            for promise in promises { promise.end(result(promise)) }
            for waiter in idleWaiters { waiter.resume() }
        }
    }

    /// - Parameter file: The file that was decoded, or nil for a stored thumbnail.
    func end(_ variant: Int, with image: DecodedImage, from file: Original?) {
        let (ended, writing) = state.withLock { state -> (Ended, Writing?) in
            var ended = Ended()
            let original = state.board.original(ofVariant: variant)
            guard let key = state.board.key(ofVariant: variant), let ending = state.board.ends(variant) else {
                return (ended, nil)
            }
            let isFirst = original.flatMap { state.originals[$0]?.isStored } == false
            if let original, file?.kept.isStored == false { state.originals[original]?.isStored = true }
            if key.original.policy.writesMemory {
                let memoryKey = ImageMemory.Key(key.original.name, key.decoding)
                ended.images = state.memory.insert(image, for: memoryKey)
            }
            ended.failures.append(state.failures.forget(key.original.failureName))
            ended.add(ending, from: &state)
            // Registered in the same step, because a lookup that begins now must not miss the image. Furthermore, the original
            // must precede the thumbnails of other threads: its write removes all thumbnails.
            guard let file, let write = storing(image, of: file, key, isFirst: isFirst) else { return (ended, nil) }
            return (ended, register(in: &state, key.original.name, byteCount: write.byteCount, write.body))
        }
        // The write is enqueued before the waiters are notified, so that `waitUntilIdle` includes the write.
        if let writing { enqueue(writing) }
        ended.finish(in: self) { .success(LoadedImage(image: image, source: file?.kept.source ?? .disk, url: $0.url)) }
    }

    func fail(variant: Int, _ reason: ImageLoadError.Reason, _ file: Original) {
        let now = configuration.ticker.now()
        let ended = state.withLock { state in
            var ended = Ended()
            guard let key = state.board.key(ofVariant: variant), let ending = state.board.ends(variant) else {
                return ended
            }
            let shown = HTTPAddress.redacted(key.original.request.url)
            let error = ImageLoadError(reason, url: shown, response: file.kept.response)
            ended.failures = state.failures.remember(
                error, of: key.original.failureName, decoding: key.decoding, now: now)
            ended.add(ending, from: &state)
            return ended
        }
        ended.finish(in: self) { .failure(ImageLoadError(reason, url: $0.url, response: file.kept.response)) }
    }

    /// Fails the variants that wait for an original.
    func fail(_ original: Int, _ reason: ImageLoadError.Reason, _ response: HTTPResponse? = nil) {
        let now = configuration.ticker.now()
        let ended = state.withLock { state in
            var ended = Ended()
            guard let key = state.board.key(ofOriginal: original) else { return ended }
            let error = ImageLoadError(reason, url: HTTPAddress.redacted(key.request.url), response: response)
            ended.failures = state.failures.remember(
                error, of: key.failureName, decoding: ImageDecodingOptions(), now: now)
            for ending in state.board.fails(original) { ended.add(ending, from: &state) }
            return ended
        }
        ended.finish(in: self) { .failure(ImageLoadError(reason, url: $0.url, response: response)) }
    }

    // MARK: - Cancelling

    func cancel(_ waiter: Int) {
        var gone: (operation: Operation?, original: OriginalWork?)
        let (promise, leaving, idleWaiters) = state.withLock { state in
            let leaving = state.board.leave(waiter)
            if case .stops(let variant, let original, let isLast) = leaving {
                gone.operation = state.operations.removeValue(forKey: variant)
                if isLast { gone.original = state.originals.removeValue(forKey: original) }
            }
            let promise = leaving == .hadLeft ? nil : state.promises.removeValue(forKey: waiter)
            return (promise, leaving, state.takeIdleWaiters())
        }
        switch leaving {
        case .hadLeft: break
        case .continues(let variant, let original), .stops(let variant, let original, isLast: false):
            applyDemand(variant: variant, original: original)
        case .stops: break
        }
        gone.operation?.cancel()
        gone.original?.preparing?.cancel()
        gone.original?.http?.cancel()
        if let promise { promise.end(.failure(ImageLoadError(.cancelled, url: promise.url))) }
        for waiter in idleWaiters { waiter.resume() }
    }

    func cancelAll() {
        let promises = state.withLock { Array($0.promises.values) }
        for promise in promises { promise.cancel() }
    }
}
