import HTTPCore
import Operations

/// A download to a file.
///
/// The operation writes to `.NAME.part` beside the target. When the file is complete and its digest is correct, the operation
/// renames the file to the target. The next download to the same target continues an interrupted one, even in another process,
/// if the server still has the same resource. For a long `NAME`, the name of the partial file contains the beginning of `NAME`
/// and a digest.
public final class HTTPDownloadOperation: HTTPOperation, @unchecked Sendable {
    /// The path of the finished file.
    public let target: String
    /// The digest that the finished file must have; nil for no check.
    public let digest: HTTPDigest?

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - target: The path of the file. The folder must exist, and an existing file is replaced. A name that begins with a dot
    ///     and ends in `.part` or `.part.json` is reserved for partial files, and fails with `unusableName`.
    ///   - digest: The expected digest of the file. If the digest differs, the operation deletes the file and fails with
    ///     `digestMismatch`.
    ///   - session: The session that runs the transfer.
    public init(
        _ request: HTTPRequestDescription, to target: String, digest: HTTPDigest? = nil, session: HTTPSession = .shared
    ) {
        self.target = target
        self.digest = digest
        super.init(
            request, session: session,
            sink: FileSink(target: target, digest: digest, steps: session.configuration.fileSteps))
    }

    /// Returns a new operation for the same request and target.
    public func copy() -> HTTPDownloadOperation {
        HTTPDownloadOperation(request, to: target, digest: digest, session: session)
    }

    /// The path of the target, available when the file is complete.
    ///
    /// Any number of tasks may await the path. When the last of them is cancelled, the operation is cancelled too.
    ///
    /// - Throws: `HTTPError`, also after cancelling; the error of a policy, such as `OperationTimeout`.
    public var value: String {
        get async throws {
            try await waiters.wait(for: self)
            if transfer.record.withLock({ $0.isComplete }) { return target }
            throw failure
        }
    }

    /// The path of the file or the failure; nil until the operation has finished.
    public var result: Result<String, any Error>? {
        guard isFinished else { return nil }
        return transfer.record.withLock { $0.isComplete } ? .success(target) : .failure(failure)
    }

    override func complete() async { transfer.record.withLock { $0.isComplete = true } }
}
