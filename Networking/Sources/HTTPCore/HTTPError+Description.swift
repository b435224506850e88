extension HTTPError: CustomStringConvertible {
    /// A description of the failure with the address, for people.
    public var description: String { "\(url): \(reason.explanation)" }

    /// Whether the request was cancelled, so that no failure occurred.
    public var isCancellation: Bool { if case .cancelled = reason { true } else { false } }
}

extension HTTPError.Reason {
    /// A description of the reason in words, which continues a sentence that begins with the address.
    public var explanation: String {
        switch self {
        case .cancelled: "was cancelled"
        case .invalidURL: "is not an absolute http or https URL"
        case .invalidHeader(let name): "the field '\(name)' cannot be sent"
        case .connection(let error): "the connection failed: \(error)"
        case .certificateRefused(let error): "the server's certificate is not trusted: \(error)"
        case .timedOut(.connect): "could not connect within the time limit"
        case .timedOut(.idle): "received no data within the idle time limit"
        case .timedOut(.total): "did not finish within the time limit"
        case .truncated(let received, let expected):
            "ended after \(received) bytes" + (expected.map { " of \($0)" } ?? "")
        case .bodyTooLarge(let limit): "exceeds the limit of \(limit) bytes in memory"
        case .decompressionLimitExceeded: "exceeds the limit for decompressed data"
        case .undecodableEncoding(let problem): "cannot be decompressed: \(problem)"
        case .tooManyRedirects(let limit): "redirects more than \(limit) times"
        case .redirectLoop: "redirects in a loop"
        case .redirectRefused(let location): "redirects to '\(location)', which is not followed"
        case .unauthorized: "requires credentials, and none were accepted"
        case .unacceptableStatus(let status): "answered with status \(status)"
        case .unacceptableType(let type): "answered with \(type.map { "the type '\($0)'" } ?? "no type")"
        case .emptyBody: "answered with an empty body"
        case .undecodable(let error): "cannot be decoded: \(error)"
        case .digestMismatch(let expected, let actual): "has the wrong SHA-256: \(actual), expected \(expected)"
        case .unusableName(let name): "'\(name)' cannot be a file name"
        case .noSpace: "the disk is full"
        case .cannotWrite(let path, let error): "cannot write '\(path)': \(error)"
        case .cannotRead(let path, let error): "cannot read '\(path)': \(error)"
        case .notInCache: "is not in the cache, and the request allows the cache only"
        case .alreadyCached: "is already in the cache"
        case .resumeFailed: "cannot resume: the server does not continue the body that was delivered in part"
        case .bodyNotRepeatable: "must be sent again, but its body can be read only once"
        }
    }
}
