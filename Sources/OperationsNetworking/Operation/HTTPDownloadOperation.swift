#if Networking
import HTTPCore
import Operations

/// A download to a file (rule D1). What comes is written to `.NAME.part` beside the target, which gets its name when it is
/// complete, and its digest right. The next download to the same place continues an interrupted one, also in another
/// process, if the server still has the same. (Of a long `NAME` the part has the beginning and a digest.)
public final class HTTPDownloadOperation: AnyHTTPOperation, @unchecked Sendable {
    /// Where the file will be.
    public let target: String
    public let digest: HTTPDigest?

    /// - Parameters:
    ///   - request: What to ask for.
    ///   - target: The path of the file. Its folder has to be there; a file of that name is replaced. A name that begins
    ///     with a dot and ends in `.part` or `.part.json` is kept for parts, and fails with `unusableName`.
    ///   - digest: What the file is to be; if it is something else, it is thrown away and the operation fails with
    ///     `digestMismatch`.
    ///   - session: What it shares with others.
    public init(
        _ request: HTTPOperationRequest, to target: String, digest: HTTPDigest? = nil, session: HTTPSession = .shared
    ) {
        self.target = target
        self.digest = digest
        super.init(
            request, session: session,
            sink: FileSink(target: target, digest: digest, steps: session.configuration.fileSteps))
    }

    /// A fresh operation for the same (rule R1).
    public func copy() -> HTTPDownloadOperation {
        HTTPDownloadOperation(request, to: target, digest: digest, session: session)
    }

    /// The target's path, as soon as the file is there.
    ///
    /// - Throws: `HTTPError`, also when it was cancelled; what a policy of the toolkit says.
    public var value: String {
        get async throws {
            try await waitForEnd()
            if transfer.record.withLock({ $0.isComplete }) { return target }
            throw failure
        }
    }

    /// The same for what has finished.
    package var downloadResult: Result<String, any Error> {
        transfer.record.withLock { $0.isComplete } ? .success(target) : .failure(failure)
    }

    override func complete() async { transfer.record.withLock { $0.isComplete = true } }
}
#endif
