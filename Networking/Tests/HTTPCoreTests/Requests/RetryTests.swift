import HTTPCore
import HTTPTypes
import Testing

@Suite struct RetryTests {
    private struct Broken: Error {}

    static let methods: [(HTTPRequest.Method, safe: Bool, idempotent: Bool)] = [
        (.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true), (.query, true, true),
        (.put, false, true), (.delete, false, true), (.post, false, false), (.patch, false, false),
        (.connect, false, false),
        (.init("get")!, false, false), (.init("UNKNOWN")!, false, false),
    ]

    @Test(arguments: methods) func `only safe or marked requests are sent again`(
        method: HTTPRequest.Method, safe: Bool, idempotent: Bool
    ) {
        let error = HTTPError(.connection(Broken()), url: "")
        for (marking, expected) in [
            (RetrySafety.safe, safe), (.idempotent, idempotent), (.always, true), (.never, false),
        ] {
            #expect(error.mayRetry(method, marking: marking, bodyIsRepeatable: true) == expected)
            #expect(!error.mayRetry(method, marking: marking, bodyIsRepeatable: false))
        }
    }

    @Test func `only temporary failures are retried`() {
        let passing: [HTTPError.Reason] =
            [.connection(Broken()), .timedOut(.connect), .timedOut(.idle), .truncated(received: 1, expected: nil)]
            + [408, 425, 429, 500, 502, 503, 504].map(HTTPError.Reason.unacceptableStatus)
        let lasting: [HTTPError.Reason] =
            [
                .cancelled, .invalidURL, .invalidHeader(name: ""), .certificateRefused(Broken()), .timedOut(.total),
                .bodyTooLarge(limit: 1), .decompressionLimitExceeded, .redirectLoop,
                .unauthorized,
                .tooManyRedirects(limit: 1), .emptyBody, .undecodable(Broken()), .noSpace, .notInCache,
                .bodyNotRepeatable,
                .digestMismatch(expected: "", actual: ""), .unacceptableType(nil),
            ] + [100, 200, 304, 400, 401, 403, 404, 410, 501, 505, 511].map(HTTPError.Reason.unacceptableStatus)
        for reason in passing { #expect(reason.isRetryable, "\(reason)") }
        for reason in lasting { #expect(!reason.isRetryable, "\(reason)") }
    }
}
