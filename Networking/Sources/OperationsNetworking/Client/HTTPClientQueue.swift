public import HTTPCore
public import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A queue of HTTP requests to one service or to many.
///
/// The client has a base address, default fields, and one queue with a concurrency limit in all and one for each host. Hosts
/// take turns.
///
/// Identical safe requests that run at the same time share one transfer. After a request that is not safe, such as POST, has
/// ended, a new request joins no earlier transfer. The request that is not safe may belong to another client of the session.
/// All members are safe to use on any thread.
public final class HTTPClientQueue: Sendable {
    /// The queue that runs the requests. You can change its concurrency limit, suspension and service level at any time.
    public let queue: OperationQueue
    /// The session that runs the transfers.
    public let session: HTTPSession
    let settings: Locked<Settings>
    /// Whether hosts take turns and may have limits.
    private let hasTurns: Bool
    let transfers = SharedTransfers()
    let events = Broadcast<HTTPEvent>()
    let ledger = RequestLedger()
    /// The queue in which batches wait for their members. The members run in `queue`.
    let batches = OperationQueue()

    struct Settings {
        var base: HTTPAddress?
        var fields: HTTPFields
        var coding: any HTTPCoding = JSONCoding()
        var credentialFields: Set<String> = []
        var sharesTransfers = true
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - base: The base of relative addresses; nil if all addresses are absolute.
    ///   - fields: The default fields. A request that has a field of the same name keeps its own.
    ///   - maxConcurrentRequests: The largest number of concurrent requests.
    ///   - maxConcurrentRequestsPerHost: The largest number of concurrent requests to one host; nil for no limit.
    ///   - session: The session that runs the transfers.
    ///
    /// The call stops the process if the limit for a host is below 1.
    ///
    /// - Throws: `HTTPError` for an invalid base.
    public convenience init(
        base: String? = nil, fields: HTTPFields = [:], maxConcurrentRequests: Int = 16,
        maxConcurrentRequestsPerHost: Int? = 8,
        session: HTTPSession = .shared
    ) throws {
        var address: HTTPAddress?
        if let base {
            address = HTTPAddress(base)
            if address == nil { throw HTTPError(.invalidURL, url: HTTPAddress.redacted(base)) }
        }
        self.init(
            Settings(base: address, fields: fields), maxConcurrentRequests: maxConcurrentRequests, hasTurns: true,
            session: session)
        queue.setLimitPerKey(maxConcurrentRequestsPerHost)
    }

    /// Creates a client without a base, in which hosts do not take turns. The queue's own order applies.
    package convenience init(withoutTurns maxConcurrentRequests: Int, session: HTTPSession) {
        self.init(
            Settings(base: nil, fields: [:]), maxConcurrentRequests: maxConcurrentRequests, hasTurns: false,
            session: session)
    }

    /// The requests in the background, which end with the client.
    private let revalidations = Locked<[Revalidation]>([])

    private init(_ settings: Settings, maxConcurrentRequests: Int, hasTurns: Bool, session: HTTPSession) {
        self.hasTurns = hasTurns
        self.session = session
        self.settings = Locked(settings)
        queue = OperationQueue()
        queue.name = settings.base.map { "HTTP \($0.origin)" } ?? "HTTP"
        queue.maxConcurrentOperationCount = maxConcurrentRequests
        batches.name = queue.name.map { "batches of \($0)" }
        batches.maxConcurrentOperationCount = .max
    }

    deinit {
        for revalidation in revalidations.withLock({ $0 }) { revalidation.operation?.cancel() }
    }

    /// The default fields. A request that has a field of the same name keeps its own. With a base, `Authorization`,
    /// `Proxy-Authorization`, `Cookie` and the ``credentialFields`` go to the base's origin only.
    public var fields: HTTPFields {
        get { settings.withLock { $0.fields } }
        set { settings.withLock { $0.fields = newValue } }
    }

    /// The names of further credential fields besides `Authorization`, `Proxy-Authorization` and `Cookie`, such as `X-Api-Key`.
    /// The names are case-insensitive.
    ///
    /// Default ``fields`` of these names go to the base's origin only. Fields of these names follow no redirect to another
    /// origin. The cache does not serve a response to requests with other values.
    ///
    /// A request can name more credential fields in its `RedirectPolicy`.
    public var credentialFields: Set<String> {
        get { settings.withLock { $0.credentialFields } }
        set { settings.withLock { $0.credentialFields = newValue } }
    }

    /// Whether identical safe requests that run at the same time share a transfer. A change affects requests that are added
    /// afterwards.
    public var sharesTransfers: Bool {
        get { settings.withLock { $0.sharesTransfers } }
        set { settings.withLock { $0.sharesTransfers = newValue } }
    }

    /// Whether the client starts no further requests. Running requests continue.
    public var isSuspended: Bool {
        get { queue.isSuspended }
        set { queue.isSuspended = newValue }
    }

    /// Cancels all requests and batches. The values of these requests throw an `HTTPError` with the reason `cancelled`.
    public func cancelAll() {
        // Batches first: they would otherwise begin further members.
        batches.cancelAllOperations()
        queue.cancelAllOperations()
    }

    /// Suspends until no request is running or waiting.
    public func waitUntilIdle() async {
        await batches.waitUntilAllOperationsAreFinished()
        await queue.waitUntilAllOperationsAreFinished()
    }

    // MARK: - Requests

    /// Adds a request. The client completes the request with its base and fields. Without a field `Accept`, the request gets
    /// that of the serializer.
    public func load<Value>(
        _ request: HTTPRequestDescription, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        load(request, as: serializer, TransferDemand(priority))
    }

    /// Adds a GET request.
    public func get<Value>(
        _ url: String, as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        load(HTTPRequestDescription(.get, url), as: serializer, priority: priority)
    }

    /// Adds a HEAD request. The value is empty; use the `response` of the handle's transfer.
    public func head(_ url: String, priority: Operation.QueuePriority = .normal) -> HTTPRequestHandle<Data> {
        load(HTTPRequestDescription(.head, url), as: .data, priority: priority)
    }

    /// Adds a DELETE request.
    public func delete<Value>(
        _ url: String, as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        load(HTTPRequestDescription(.delete, url), as: serializer, priority: priority)
    }

    /// Adds a POST request with a body of the given content type.
    public func post<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        send(.post, url, body, type, serializer, priority)
    }

    /// Adds a PUT request with a body of the given content type.
    public func put<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        send(.put, url, body, type, serializer, priority)
    }

    /// Adds a PATCH request with a body of the given content type.
    public func patch<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPRequestHandle<Value> {
        send(.patch, url, body, type, serializer, priority)
    }

    /// Adds a download. Downloads do not share transfers.
    public func download(
        _ url: String, to target: String, digest: HTTPDigest? = nil, priority: Operation.QueuePriority = .normal
    ) -> HTTPDownloadOperation {
        let operation = HTTPDownloadOperation(
            completed(HTTPRequestDescription(.get, url)), to: target, digest: digest, session: session)
        operation.queuePriority = priority
        add(operation)
        return operation
    }

    private func send<Value>(
        _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ type: String,
        _ serializer: HTTPSerializer<Value>, _ priority: Operation.QueuePriority
    ) -> HTTPRequestHandle<Value> {
        load(
            HTTPRequestDescription(method, url, fields: [.contentType: type], body: body), as: serializer,
            priority: priority)
    }

    /// Returns the request with an absolute address and all default fields.
    func completed(_ request: HTTPRequestDescription) -> HTTPRequestDescription {
        let settings = settings.withLock { $0 }
        var request = request
        if let base = settings.base, let address = base.resolving(request.url) {
            // Credentials in the address of the request have precedence.
            let takesBase = address.origin == base.origin && address.user == nil
            let own = takesBase ? address.withCredentials(of: base) : address
            request.url = own.textWithCredentials
        }
        request.redirects.credentialFields.formUnion(settings.credentialFields)
        // Credentials for the base must not go to another origin.
        let isElsewhere = settings.base.map { $0.origin != HTTPAddress(request.url)?.origin } ?? false
        for field in settings.fields where request.fields[field.name] == nil {
            if isElsewhere, field.name.isCredential(or: request.redirects.credentialFields) { continue }
            request.fields.append(field)
        }
        return request
    }

    /// Returns the completed request, with the serializer's field `Accept`.
    func completed(
        _ request: HTTPRequestDescription, for serializer: HTTPSerializer<some Any>
    ) -> HTTPRequestDescription { completed(request).accepting(serializer) }

    /// Adds an operation, unless the operation is in a queue already. If the queue is full, the operation fails.
    func add(_ operation: HTTPOperation) {
        do {
            try enqueue(operation)
        } catch {
            guard case .queueFull = error else { return }
            operation.reportFailure(HTTPError(.connection(error), url: HTTPAddress.redacted(operation.request.url)))
            // A cancelled operation finishes when it is started, without its work.
            operation.cancel()
            operation.start()
        }
    }

    /// - Throws: The misuse error of an operation that is in a queue already, or the error of a full queue. The ledger
    ///   does not count such an operation.
    func enqueue(_ operation: HTTPOperation) throws(OperationError) {
        ledger.added(operation)
        operation.transfer.addListener { [weak events, weak ledger, unowned operation] kind, url in
            // Another queue may have taken the operation meanwhile. Do not report its events here.
            guard ledger?.noted(kind, of: operation) == true else { return }
            let isRevalidation = operation is RevalidationOperation
            events?.send(HTTPEvent(kind: kind, url: url, isRevalidation: isRevalidation))
        }
        if session.configuration.cache != nil {
            operation.transfer.background = { [weak self] in self?.revalidate($0) }
        }
        do {
            guard hasTurns else { return try queue.tryAddOperation(operation) }
            let host = operation.transfer.address?.origin.description ?? ""
            try queue.tryAddOperation(operation, limitKey: host)
        } catch {
            ledger.refused(operation)
            throw error
        }
    }

    /// Adds a request in the background. A full queue takes none, because it might remove another request in exchange.
    private func revalidate(_ operation: HTTPOperation) {
        if let capacity = queue.capacity {
            let present = queue.snapshot()
            guard present.executing + present.waiting < capacity else { return }
        }
        revalidations.withLock { known in
            known.removeAll { $0.operation == nil }
            known.append(Revalidation(operation: operation))
        }
        add(operation)
    }

    private struct Revalidation {
        weak var operation: HTTPOperation?
    }
}
