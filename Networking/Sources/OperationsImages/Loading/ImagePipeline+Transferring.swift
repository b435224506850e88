import HTTPCore
import HTTPTypes
import Operations
import OperationsNetworking

// Step 3 of 5: the network.
extension ImagePipeline {
    /// Starts the transfer of an original that is not on disk or must be revalidated.
    func isAbsent(_ original: Int, stale: StaleOriginal? = nil) {
        switch state.withLock({ $0.board.isAbsent(original) }) {
        case .gone: break
        case .refuse: fail(original, .notCached)
        case .load: transfer(original, stale: stale)
        }
    }

    func transfer(_ original: Int, stale: StaleOriginal?) {
        guard let key = state.withLock({ $0.board.key(ofOriginal: original) }) else { return }
        guard let modifier = configuration.requestModifier else { return send(key.request, original, stale) }
        let preparing = Task {
            guard let request = await modifier(key.request) else { return fail(original, .requestRefused) }
            send(request, original, stale)
        }
        let isWanted = state.withLock { state in
            state.originals[original]?.preparing = preparing
            return state.originals[original] != nil
        }
        if !isWanted { preparing.cancel() }
    }

    private func send(_ request: HTTPRequestDescription, _ original: Int, _ stale: StaleOriginal?) {
        var request = request
        var stale = stale
        // The session's cache revalidates by itself, and the caller's own conditions have precedence.
        if configuration.session.configuration.cache != nil || request.fields[.ifNoneMatch] != nil
            || request.fields[.ifModifiedSince] != nil
        {
            stale = nil
        }
        for field in stale?.validators.conditions ?? [:] { request.fields.append(field) }
        guard let demand = state.withLock({ $0.board.demand(ofOriginal: original) }) else { return }
        let http = client.load(request, as: .imageAnswer, demand)
        let (isWanted, reportsProgress, old) = state.withLock { state in
            let old = state.originals[original]?.http
            state.originals[original]?.http = http
            return (state.originals[original] != nil, state.originals[original]?.reportsProgress == true, old)
        }
        withExtendedLifetime(old) {}
        guard isWanted else { return http.cancel() }
        applyDemand(original: original)
        if reportsProgress { reportProgress(of: http, for: original) }
        Task { [stale] in
            do {
                try receive(try await http.value, of: original, by: http.transfer, stale)
            } catch let error as HTTPError {
                fail(original, ImageLoadError.Reason(error.reason), error.response)
            } catch let refusal as Refusal {
                fail(original, refusal.reason, refusal.response)
            } catch {
                fail(original, .transfer(.connection(error)))
            }
        }
    }

    private struct Refusal: Error {
        let reason: ImageLoadError.Reason
        let response: HTTPResponse
    }

    private func receive(
        _ answer: ImageAnswer, of original: Int, by transfer: HTTPOperation?, _ stale: StaleOriginal?
    ) throws {
        guard let response = configuration.responseModifier.map({ $0(answer.response) }) ?? answer.response else {
            throw Refusal(reason: .responseRefused, response: answer.response)
        }
        if response.status == .notModified, let stale { return isPresent(original, stale.file) }
        if let reason = objection(to: response) { throw Refusal(reason: reason, response: response) }
        guard !answer.body.isEmpty else { throw Refusal(reason: .image(.emptyData), response: response) }
        let bytes: [UInt8]
        do { bytes = try opened(answer.body) } catch { throw Refusal(reason: .decryption(error), response: response) }
        // The last report precedes the image, so that a progress stream is complete before it ends.
        if let transfer { report(transfer.downloadProgress, for: original, isLast: true) }
        let source = transfer?.servedFromCache == true ? LoadedImage.Source.disk : .network
        let data = configuration.decryptor.map { _ in answer.body }
        let kept = Original.Kept(encrypted: data, response: response, source: source, isStored: false)
        isPresent(original, Original(bytes: bytes, kept))
    }

    private func objection(to response: HTTPResponse) -> ImageLoadError.Reason? {
        if response.status == .notModified { return .notModified }
        var serializer = HTTPSerializer.imageAnswer
        (serializer.acceptableStatuses, serializer.acceptableTypes) = (
            HTTPSerializer<ImageAnswer>.successes, configuration.acceptableTypes
        )
        return serializer.objection(to: response).map { ImageLoadError.Reason($0) }
    }

    // MARK: - Progress

    /// Begins to report progress to all requests for an original. Returns the last report.
    func beginProgress(of waiter: Int) -> TransferProgress? {
        let (http, original, work) = state.withLock { state in
            let original = state.board.original(ofWaiter: waiter)
            let work = original.flatMap { state.originals[$0] }
            if let original { state.originals[original]?.reportsProgress = true }
            return (work?.http, original, work)
        }
        if let original, let http, work?.reportsProgress == false { reportProgress(of: http, for: original) }
        return work?.progress
    }

    private func reportProgress(of http: HTTPRequestHandle<ImageAnswer>, for original: Int) {
        http.transfer?.whenProgress { [weak self] in self?.report($0.download, for: original) }
    }

    private func report(_ progress: TransferProgress, for original: Int, isLast: Bool = false) {
        let promises = state.withLock { state -> [ImagePromise] in
            guard state.originals[original]?.reportsProgress == true else { return [] }
            state.originals[original]?.progress = progress
            return state.board.waiters(ofOriginal: original).compactMap { state.promises[$0] }
        }
        for promise in promises { promise.report(progress, isLast: isLast) }
    }

    func transfer(of waiter: Int) -> HTTPOperation? {
        let http = state.withLock { state in
            state.board.original(ofWaiter: waiter).flatMap { state.originals[$0]?.http }
        }
        return http?.transfer
    }
}

extension ImageLoadError.Reason {
    init(_ reason: HTTPError.Reason) {
        switch reason {
        case .cancelled: self = .cancelled
        case .emptyBody: self = .image(.emptyData)
        case .unacceptableStatus(let status): self = .unacceptableStatus(status)
        case .unacceptableType(let type): self = .unacceptableType(type)
        case let reason: self = .transfer(reason)
        }
    }
}
