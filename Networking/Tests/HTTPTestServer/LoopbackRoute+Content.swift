import HTTPTypes
import NIOConcurrencyHelpers

extension LoopbackRoute {
    /// Returns a route that always sends the same response.
    public static func always(_ path: String, _ response: LoopbackResponse) -> LoopbackRoute {
        LoopbackRoute(path) { _ in response }
    }

    /// Returns a route that sends the responses in order, one for each request. The last response repeats.
    public static func inTurn(_ path: String, _ responses: [LoopbackResponse]) -> LoopbackRoute {
        let next = NIOLockedValueBox(0)
        return LoopbackRoute(path) { _ in
            let turn = next.withLockedValue { next in
                defer { next += 1 }
                return next
            }
            return responses.isEmpty ? .notFound : responses[min(turn, responses.count - 1)]
        }
    }

    /// Returns a route that answers the first requests with 503 and `Retry-After`, if a value is given. Later requests
    /// get the response of `route`. The value is a number of seconds or a date.
    public static func unavailable(times: Int, retryAfter: String? = nil, then route: LoopbackRoute) -> LoopbackRoute {
        let left = NIOLockedValueBox(times)
        return LoopbackRoute(route.path) { request in
            let isRefused = left.withLockedValue { left in
                left -= 1
                return left >= 0
            }
            guard isRefused else { return await route.handler(request) }
            var response = LoopbackResponse(.serviceUnavailable, body: .text("Later.\n"))
            if let retryAfter { response.fields[.retryAfter] = retryAfter }
            return response
        }
    }

    /// Returns a route that describes the request as JSON, which ``LoopbackEcho`` decodes.
    public static func echo(_ path: String) -> LoopbackRoute {
        LoopbackRoute(path) { .json(LoopbackEcho($0).json) }
    }

    /// Returns a route that sends an HTML page with an image element for each address.
    public static func page(_ path: String, images: [String]) -> LoopbackRoute {
        let elements = images.map { "<img src=\"\($0.escapedForHTML)\" alt=\"\">\n" }.joined()
        let page = "<!DOCTYPE html>\n<html>\n<head><title>Images</title></head>\n<body>\n\(elements)</body>\n</html>\n"
        return .always(path, LoopbackResponse(fields: [.contentType: "text/html; charset=utf-8"], body: .text(page)))
    }

    /// Returns a route that sends compressed bytes with the name of their encoding.
    public static func encoded(
        _ path: String, _ bytes: [UInt8], encoding: String, contentType: String = "text/plain; charset=utf-8"
    ) -> LoopbackRoute {
        .always(
            path,
            LoopbackResponse(
                fields: [.contentType: contentType, .contentEncoding: encoding, .vary: "Accept-Encoding"],
                body: .bytes(bytes)))
    }

    /// Returns a route that sends a small body with `Content-Encoding: gzip`. The body inflates to `length` zeros.
    public static func gzipBomb(_ path: String, inflatingTo length: Int64) -> LoopbackRoute {
        .encoded(
            path, LoopbackCompression.gzipBomb(inflatingTo: length), encoding: "gzip",
            contentType: "application/octet-stream")
    }
}

extension String {
    fileprivate var escapedForHTML: String {
        // The code works on scalars, because `<` can be a part of a longer character.
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case "\"": text += "&quot;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
