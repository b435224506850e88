/// The reply of one request. The thread of the commit writes the reply before the caller resumes.
package final class ReplyBox<Reply: Sendable>: Sendable {
    private let value = Locked<Reply?>(nil)

    package init() {}

    package func set(_ reply: Reply) { value.withLock { $0 = reply } }

    /// Returns the reply, or the error of the request.
    package func result(_ error: (any Error)?) -> Result<Reply, any Error> {
        if let error { return .failure(error) }
        guard let reply = value.withLock({ $0 }) else { return .failure(CancellationError()) }
        return .success(reply)
    }
}
