import Foundation
import HTTPCaching
import HTTPTypes

/// The time 1994-11-06 08:49:37 GMT, from which the tests count seconds.
let origin = Date(timeIntervalSince1970: 784_111_777)

func at(_ seconds: Double) -> Date { origin.addingTimeInterval(seconds) }

/// Returns the HTTP date `seconds` after `origin`. The date must be in November 1994.
func httpDate(_ seconds: Int) -> String {
    let total = 8 * 3600 + 49 * 60 + 37 + seconds
    let (day, rest) = (6 + Int((Double(total) / 86400).rounded(.down)), ((total % 86400) + 86400) % 86400)
    precondition((1...30).contains(day))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    return "\(weekdays[(day + 1) % 7]), \(two(day)) Nov 1994 \(time) GMT"
}

/// Returns fields from lines of the form `Name: value`.
func fields(_ lines: String...) -> HTTPFields { fields(lines) }

func fields(_ lines: [String]) -> HTTPFields {
    HTTPFields(
        lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPField(
                name: HTTPField.Name(String(parts[0]))!, value: parts[1].trimmingCharacters(in: .whitespaces))
        })
}

func get(_ path: String = "/a", _ lines: String..., method: HTTPRequest.Method = .get) -> HTTPRequest {
    HTTPRequest(
        method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields(lines))
}

func answer(_ status: Int = 200, _ lines: String...) -> HTTPResponse { answer(status, lines) }

func answer(_ status: Int = 200, _ lines: [String]) -> HTTPResponse {
    HTTPResponse(status: .init(code: status), headerFields: fields(lines))
}

/// Returns a stored response whose request and arrival were at `origin`.
func stored(_ status: Int = 200, _ lines: String...) -> StoredResponse {
    StoredResponse(answer(status, lines), requestTime: origin, responseTime: origin)
}

/// A directory that is removed when the object is deallocated.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "HTTPCachingTests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the paths of the cache's files in the directory, without the index.
    func bodies() -> [String] {
        (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).filter { name in
            name.contains("/") && !name.hasSuffix("/") && name.split(separator: "/").last!.count >= 36
        }.sorted()
    }
}

extension HTTPCache {
    /// Loads this response as a transport does. Returns whether the cache stored the response.
    @discardableResult
    func load(
        _ request: HTTPRequest, _ response: HTTPResponse, body: String = "body", policy: HTTPCachePolicy = .default,
        at now: Date = origin
    ) async -> Bool {
        let writer = await received(response, to: request, policy: policy, requestTime: now, responseTime: now)
        guard let writer else { return false }
        await writer.write(Array(body.utf8))
        return await writer.finish(now: now)
    }

    /// Returns the served text, or `load`, `check` or the refusal.
    func outcome(_ request: HTTPRequest, policy: HTTPCachePolicy = .default, at now: Date = origin) async -> String {
        switch await answer(to: request, policy: policy, now: now) {
        case .serve(let cached):
            (try? await cached.body.data()).map { String(decoding: $0, as: UTF8.self) } ?? "unreadable"
        case .serveAndRevalidate: "revalidating"
        case .load(let load): load.adding.isEmpty ? "load" : "check"
        case .refuse(let refusal): "\(refusal)"
        }
    }
}
