#if Networking
public import HTTPTypes

/// What the server answers, and how it misbehaves while it does.
public struct LoopbackResponse: Sendable {
    /// How the client learns where the body ends. HTTP/2 knows one way only and takes no notice but of `contentLength`,
    /// which announces the length there too.
    public enum Framing: Sendable, Hashable, CaseIterable { case contentLength, chunked, untilClose }

    public var status: HTTPResponse.Status
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are added as the framing needs them, unless they are here.
    public var fields: HTTPFields
    public var body: LoopbackBody
    public var framing: Framing
    /// What goes wrong, in the order of the places where it does; faults at the same place happen in the order given here.
    public var faults: [Fault]

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

    /// A 200 of plain UTF-8 text.
    public static func text(_ text: String) -> LoopbackResponse {
        LoopbackResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text(text))
    }

    /// A 200 of JSON.
    public static func json(_ text: String) -> LoopbackResponse {
        LoopbackResponse(fields: [.contentType: "application/json"], body: .text(text))
    }

    /// A 404.
    public static let notFound = LoopbackResponse(
        .notFound, fields: [.contentType: "text/plain; charset=utf-8"], body: .text("There is nothing here.\n"))

    /// The same with more that goes wrong.
    public func with(_ faults: Fault...) -> LoopbackResponse {
        var response = self
        response.faults += faults
        return response
    }
}
#endif
