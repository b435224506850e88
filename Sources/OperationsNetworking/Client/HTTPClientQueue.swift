#if Networking
public import HTTPCore
public import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Requests to one service, or to many (rule N1): an address they are relative to, fields they all have, and one queue
/// with a width in all and for each host, in which hosts take turns.
///
/// Identical safe requests that are under way at a time share one transfer (rule N2). A request that is added after a request
/// of the session that may have changed something, such as a POST, has ended, joins no transfer from before. Safe on any thread.
public final class HTTPClientQueue: Sendable {
    /// Where the requests run. Its width, suspension and service level may be changed at any time.
    public let queue: OperationQueue
    public let session: HTTPSession
    let settings: Locked<Settings>
    /// Hosts take turns, and may have limits.
    private let hasTurns: Bool
    let shares = Locked(Shares())
    let events = Broadcast<HTTPEvent>()
    let ledger = RequestLedger()
    /// Where batches wait for their members, which run in `queue`.
    let batches = OperationQueue()

    struct Settings {
        var base: HTTPAddress?
        var fields: HTTPFields
        var coding: any HTTPCoding = JSONCoding()
        var credentialFields: Set<String> = []
        var sharesTransfers = true
    }

    /// The transfers that may be joined.
    struct Shares {
        var coalescer = Coalescer<Sharing, Int>()
        var operations: [Int: HTTPOperation<HTTPAnswer>] = [:]
    }

    /// - Parameters:
    ///   - base: What relative addresses are relative to.
    ///   - fields: Sent with every request that has no fields of these names.
    ///   - width: How many requests run at a time.
    ///   - widthPerHost: How many of them with one host.
    ///   - session: What they share with others.
    /// - Throws: `PolicyError` for a width per host below 1; `HTTPError` for a base that is no address.
    public convenience init(
        base: String? = nil, fields: HTTPFields = [:], width: Int = 16, widthPerHost: Int? = 8,
        session: HTTPSession = .shared
    ) throws {
        var address: HTTPAddress?
        if let base {
            address = HTTPAddress(base)
            if address == nil { throw HTTPError(.invalidURL, url: HTTPAddress.redacted(base)) }
        }
        self.init(Settings(base: address, fields: fields), width: width, hasTurns: true, session: session)
        try queue.setLimitPerKey(widthPerHost)
    }

    /// Without a base, and without turns of hosts: the queue's own order holds.
    package convenience init(withoutTurns width: Int, session: HTTPSession) {
        self.init(Settings(base: nil, fields: [:]), width: width, hasTurns: false, session: session)
    }

    private init(_ settings: Settings, width: Int, hasTurns: Bool, session: HTTPSession) {
        self.hasTurns = hasTurns
        self.session = session
        self.settings = Locked(settings)
        queue = OperationQueue()
        queue.name = settings.base.map { "HTTP \($0.origin)" } ?? "HTTP"
        queue.maxConcurrentOperationCount = width
        batches.name = queue.name.map { "batches of \($0)" }
        batches.maxConcurrentOperationCount = .max
    }

    /// Sent with every request that has no fields of these names. `Authorization`, `Proxy-Authorization`, `Cookie` and the
    /// ``credentialFields`` are sent only to the base's origin, if there is a base.
    public var fields: HTTPFields {
        get { settings.withLock { $0.fields } }
        set { settings.withLock { $0.fields = newValue } }
    }

    /// Names of fields with credentials besides `Authorization`, `Proxy-Authorization` and `Cookie`, such as `X-Api-Key`. Upper
    /// and lower case are the same. The client's ``fields`` of these names go to the base's origin only. The fields follow
    /// no redirect to another origin, and a cache keeps answers to different values apart.
    ///
    /// A request may name more of them in its `RedirectPolicy`.
    public var credentialFields: Set<String> {
        get { settings.withLock { $0.credentialFields } }
        set { settings.withLock { $0.credentialFields = newValue } }
    }

    /// Whether identical safe requests that are under way share a transfer (rule N2). Holds for requests that are added from
    /// now on.
    public var sharesTransfers: Bool {
        get { settings.withLock { $0.sharesTransfers } }
        set { settings.withLock { $0.sharesTransfers = newValue } }
    }

    /// Nothing starts meanwhile. What runs goes on.
    public var isSuspended: Bool {
        get { queue.isSuspended }
        set { queue.isSuspended = newValue }
    }

    /// Each of those who wait gets an `HTTPError` that says so.
    public func cancelAll() {
        // First: else they would go on with what comes after.
        batches.cancelAllOperations()
        queue.cancelAllOperations()
    }

    /// Suspends until no request is under way or waits.
    public func waitUntilIdle() async {
        await batches.waitUntilAllOperationsAreFinished()
        await queue.waitUntilAllOperationsAreFinished()
    }

    // MARK: - Requests

    /// Adds a request. Relative addresses are made absolute, and fields added; `Accept` is what the serializer takes.
    public func load<Value>(
        _ request: HTTPOperationRequest, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        HTTPToken(join(completed(request, for: serializer), priority), serializer)
    }

    public func get<Value>(
        _ url: String, as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        load(HTTPOperationRequest(.get, url), as: serializer, priority: priority)
    }

    public func head(_ url: String, priority: Operation.QueuePriority = .normal) -> HTTPToken<Data> {
        load(HTTPOperationRequest(.head, url), as: .data, priority: priority)
    }

    public func delete<Value>(
        _ url: String, as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        load(HTTPOperationRequest(.delete, url), as: serializer, priority: priority)
    }

    public func post<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        send(.post, url, body, type, serializer, priority)
    }

    public func put<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        send(.put, url, body, type, serializer, priority)
    }

    public func patch<Value>(
        _ url: String, _ body: HTTPRequestBody, type: String = "application/octet-stream",
        as serializer: HTTPSerializer<Value>, priority: Operation.QueuePriority = .normal
    ) -> HTTPToken<Value> {
        send(.patch, url, body, type, serializer, priority)
    }

    /// Adds a download; it shares its transfer with nobody.
    public func download(
        _ url: String, to target: String, digest: HTTPDigest? = nil, priority: Operation.QueuePriority = .normal
    ) -> HTTPDownloadOperation {
        let operation = HTTPDownloadOperation(
            completed(HTTPOperationRequest(.get, url)), to: target, digest: digest, session: session)
        operation.queuePriority = priority
        // Fresh, so nobody else has added it.
        try? enqueue(operation)
        return operation
    }

    private func send<Value>(
        _ method: HTTPRequest.Method, _ url: String, _ body: HTTPRequestBody, _ type: String,
        _ serializer: HTTPSerializer<Value>, _ priority: Operation.QueuePriority
    ) -> HTTPToken<Value> {
        load(
            HTTPOperationRequest(method, url, fields: [.contentType: type], body: body), as: serializer,
            priority: priority)
    }

    /// With an absolute address, if it is one, and all fields.
    func completed(_ request: HTTPOperationRequest) -> HTTPOperationRequest {
        let settings = settings.withLock { $0 }
        var request = request
        if let base = settings.base, let address = base.resolving(request.url) {
            let own = address.origin == base.origin ? address.withCredentials(of: base) : address
            request.url = own.textWithCredentials
        }
        request.redirects.credentialFields.formUnion(settings.credentialFields)
        // Credentials for the base are for no other origin.
        let isElsewhere = settings.base.map { $0.origin != HTTPAddress(request.url)?.origin } ?? false
        for field in settings.fields where request.fields[field.name] == nil {
            if isElsewhere, field.name.isCredential(or: request.redirects.credentialFields) { continue }
            request.fields.append(field)
        }
        return request
    }

    /// And with what its answer is to be.
    func completed(
        _ request: HTTPOperationRequest, for serializer: HTTPSerializer<some Any>
    ) -> HTTPOperationRequest { completed(request).accepting(serializer) }

    /// - Throws: Misuse, when it is in a queue already; then it is not one of this client's.
    func enqueue(_ operation: AnyHTTPOperation) throws(OperationError) {
        ledger.added(operation)
        operation.transfer.follow { [weak events, weak ledger, unowned operation] kind, url in
            // What another queue has taken meanwhile is not told of here.
            guard ledger?.noted(kind, of: operation) == true else { return }
            events?.tell(HTTPEvent(kind: kind, url: url))
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
}
#endif
