import AsyncHTTPClient
import HTTPCore
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
    let address: HTTPAddress
    let method: HTTPMethod
    var headers: HTTPHeaders
    let body: HTTPClientRequest.Body?
    /// The proxy that forwards the request; nil for a request to the server itself, or through a tunnel.
    private var forwarder: HTTPAddress.Origin?

    init(_ address: HTTPAddress, method: HTTPMethod, headers: HTTPHeaders, body: HTTPClientRequest.Body?) {
        (self.address, self.method, self.headers, self.body) = (address, method, headers, body)
    }

    /// Returns the request to a proxy that forwards it, with the absolute form of its target (RFC 9112, section 3.2.2).
    func forwarded(by proxy: HTTPAddress.Origin, login: HTTPCredential?) -> OutgoingRequest {
        var request = self
        request.forwarder = proxy
        request.headers.replaceOrAdd(name: "Host", value: address.origin.authority)
        if let value = login?.basicAuthorization ?? login?.bearerAuthorization {
            request.headers.replaceOrAdd(name: "Proxy-Authorization", value: value)
        }
        return request
    }

    /// The address to which async-http-client connects, with the path and the query.
    private var url: String { forwarder.map { "\($0)\(address.requestTarget)" } ?? address.resource }

    /// - Parameter loop: The event loop of the connection that the request probably gets.
    func begin(_ exchange: Exchange, by client: HTTPClient, on loop: any EventLoop) throws {
        var headers = headers
        let target = address.requestTarget
        if forwarder != nil {
            RequestTarget.add("http://\(address.origin.authority)\(target)", to: &headers)
        } else if target.utf8.contains(UInt8(ascii: "%")) {
            RequestTarget.add(target, to: &headers)
        }
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
    /// The number of proxy logins before the request.
    let logins: Int
}

/// The body of a response. Releasing the last reference cancels the rest of the body.
final class IncomingBody: Sendable {
    let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.cancel() }
}
