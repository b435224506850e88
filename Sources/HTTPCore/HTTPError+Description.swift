#if Networking
extension HTTPError: CustomStringConvertible {
    /// What went wrong, with the address, for people.
    public var description: String { "\(url): \(reason.explanation)" }

    /// It was given up; nothing went wrong.
    public var isCancellation: Bool { if case .cancelled = reason { true } else { false } }
}

extension HTTPError.Reason {
    /// In words.
    public var explanation: String {
        switch self {
        case .cancelled: "was cancelled"
        case .invalidURL: "is no absolute http or https URL"
        case .invalidHeader(let name): "the field '\(name)' cannot be sent"
        case .connection(let error): "the connection failed: \(error)"
        case .certificateRefused(let error): "the server's certificate is not trusted: \(error)"
        case .timedOut(.connect): "no connection in time"
        case .timedOut(.idle): "nothing has come for too long"
        case .timedOut(.whole): "took too long"
        case .truncated(let received, let expected):
            "ended after \(received) bytes" + (expected.map { " of \($0)" } ?? "")
        case .overlong(let expected): "sent more than the \(expected) bytes announced"
        case .bodyTooLarge(let limit): "has more than the \(limit) bytes that are allowed in memory"
        case .inflatesTooMuch: "inflates to more than is allowed"
        case .undecodableEncoding(let problem): "cannot be inflated: \(problem)"
        case .tooManyRedirects(let limit): "redirects more than \(limit) times"
        case .redirectLoop: "redirects in a circle"
        case .redirectRefused(let location): "redirects to '\(location)', which is not followed"
        case .unauthorized: "the credentials were refused, or there are none"
        case .unacceptableStatus(let status): "answered with status \(status)"
        case .unacceptableType(let type): "answered with \(type.map { "the type '\($0)'" } ?? "no type")"
        case .emptyBody: "answered with an empty body"
        case .undecodable(let error): "cannot be decoded: \(error)"
        case .digestMismatch(let expected, let actual): "is not what was expected: SHA-256 \(actual), not \(expected)"
        case .unusableName(let name): "'\(name)' cannot be the name of a file"
        case .noSpace: "the disk is full"
        case .cannotWrite(let path, let error): "cannot write '\(path)': \(error)"
        case .cannotRead(let path, let error): "cannot read '\(path)': \(error)"
        case .notInCache: "is not in the cache, and was to come from there only"
        case .alreadyCached: "is in the cache already"
        case .notContinued: "cannot be gone on with: the server has something else now, and the beginning is given away"
        case .bodyNotRepeatable: "would have to be sent again, but its body can be read only once"
        }
    }
}
#endif
