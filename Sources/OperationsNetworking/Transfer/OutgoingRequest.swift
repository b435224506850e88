#if Networking
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

    /// - Parameter loop: The event loop of the connection that it is likely to get.
    func begin(_ exchange: Exchange, by client: HTTPClient, on loop: any EventLoop) throws {
        // By a task it is also told to a tracer as part of whatever the task is part of.
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

/// What a request is answered with.
struct Answer {
    let head: HTTPResponse
    let body: IncomingBody
    /// When the request was, by the session's clock and by the calendar; it may have waited for a connection before.
    let sent: (time: Duration, date: Date)
    /// Of the connection by which it came.
    let use: ConnectionUse?
}

/// The body of an answer. Its last reference gone, what is left of it is not loaded.
final class IncomingBody: Sendable {
    let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.cancel() }
}
#endif
