import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One request as it is sent.
struct OutgoingRequest {
    let url: String
    let method: HTTPMethod
    let headers: HTTPHeaders
    let body: HTTPClientRequest.Body?

    /// - Parameter loop: The event loop of the connection that the request probably gets.
    func begin(_ exchange: Exchange, by client: HTTPClient, on loop: any EventLoop) throws {
        // A request that a task sends belongs to the tracing context of the task.
        if body != nil || client.tracer != nil {
            var request = HTTPClientRequest(url: url)
            request.method = method
            request.headers = headers
            request.body = body
            exchange.begin(request, client)
        } else {
            exchange.begin(try HTTPClient.Request(url: url, method: method, headers: headers), client, on: loop)
        }
    }
}

/// The response to a request.
struct Answer {
    let head: HTTPResponse
    let body: IncomingBody
    /// The time of the request, by the session's clock and by the calendar. Waiting for a connection comes before this time.
    let sent: (time: Duration, date: Date)
    /// The use of the connection of the response.
    let use: ConnectionUse?
}

/// The body of a response. Releasing the last reference cancels the rest of the body.
final class IncomingBody: Sendable {
    let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.cancel() }
}
