public import HTTPTypes

/// A response of the server, with optional faults.
public struct LoopbackResponse: Sendable {
    /// The way in which the client detects the end of the body. HTTP/2 has its own way and uses only `contentLength`,
    /// which also announces the length there.
    public enum Framing: Sendable, Hashable, CaseIterable { case contentLength, chunked, untilClose }

    /// The status of the response.
    public var status: HTTPResponse.Status
    /// The fields. The server adds `Content-Length`, `Transfer-Encoding` and `Connection` according to the framing,
    /// unless the fields contain them.
    public var fields: HTTPFields
    /// The body of the response.
    public var body: LoopbackBody
    /// The way in which the client detects the end of the body.
    public var framing: Framing
    /// The faults, which occur in the order of their positions. Faults at the same position occur in the order of the
    /// array.
    public var faults: [Fault]

    /// Creates a response. The default is an empty response with status 200.
    public init(
        _ status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: LoopbackBody = .empty,
        framing: Framing = .contentLength, faults: [Fault] = []
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.framing = framing
        self.faults = faults
    }

    /// Returns a response with status 200 and plain text in UTF-8.
    public static func text(_ text: String) -> LoopbackResponse {
        LoopbackResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text(text))
    }

    /// Returns a response with status 200 and JSON.
    public static func json(_ text: String) -> LoopbackResponse {
        LoopbackResponse(fields: [.contentType: "application/json"], body: .text(text))
    }

    /// A response with status 404.
    public static let notFound = LoopbackResponse(
        .notFound, fields: [.contentType: "text/plain; charset=utf-8"], body: .text("There is nothing here.\n"))

    /// Returns the response with additional faults.
    public func with(_ faults: Fault...) -> LoopbackResponse {
        var response = self
        response.faults += faults
        return response
    }
}
