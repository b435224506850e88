import Foundation
import HTTPCaching
import HTTPTypes
import Testing

/// A decision without its fields and dates.
private enum Verdict: String, Sendable {
    case serve, background, check, load, notInCache, alreadyCached
}

@Suite struct CacheDecisionTests {
    private static let tag = "ETag: \"a\""

    private func verdict(
        _ request: HTTPRequest, _ stored: StoredResponse?, _ now: Double, _ policy: HTTPCachePolicy = .default
    ) -> Verdict {
        switch CacheDecision(request, policy: policy, stored: stored, now: at(now)) {
        case .serve: .serve
        case .serveAndRevalidate: .background
        case .load(let adding, _): adding.isEmpty ? .load : .check
        case .refuse(.notInCache): .notInCache
        case .refuse(.alreadyCached): .alreadyCached
        }
    }

    private func stored(_ control: String) -> StoredResponse {
        StoredResponse(
            answer(200, [Self.tag, "Cache-Control: \(control)"]), requestTime: origin, responseTime: origin)
    }

    @Test(
        arguments: [
            // (response's Cache-Control, request's Cache-Control, seconds later, verdict)
            ("max-age=60", "", 59, .serve), ("max-age=60", "", 60, .check), ("", "", 0, .check),
            ("max-age=60, must-revalidate", "", 59, .serve), ("max-age=60, must-revalidate", "", 60, .check),
            ("max-age=60, no-cache", "", 0, .check), ("max-age=60, no-cache=\"X\"", "", 0, .check),
            ("max-age=60, private", "", 1, .serve), ("max-age=60, immutable", "", 60, .check),
            ("max-age=60", "no-cache", 0, .check), ("max-age=60", "no-store", 1, .serve),
            ("max-age=60", "max-age=10", 10, .serve), ("max-age=60", "max-age=10", 11, .check),
            ("max-age=60", "max-age=0", 0, .check), ("max-age=60, immutable", "max-age=0", 9, .serve),
            ("max-age=60, immutable", "max-age=0", 60, .check), ("max-age=60, immutable", "no-cache", 1, .check),
            ("max-age=60", "min-fresh=10", 50, .serve), ("max-age=60", "min-fresh=10", 51, .check),
            ("max-age=60", "min-fresh=x", 0, .check),
            ("max-age=60", "max-stale=10", 70, .serve), ("max-age=60", "max-stale=10", 71, .check),
            ("max-age=60", "max-stale", 9999, .serve), ("max-age=60", "max-stale=x", 61, .check),
            ("max-age=60, must-revalidate", "max-stale", 60, .check), ("max-age=60, no-cache", "max-stale", 1, .check),
            ("max-age=60", "only-if-cached", 59, .serve), ("max-age=60", "only-if-cached", 60, .notInCache),
            ("max-age=60", "only-if-cached, max-stale", 99, .serve),
        ] as [(String, String, Double, Verdict)])
    fileprivate func `the default policy is RFC 9111`(response: String, request: String, now: Double, expected: Verdict)
    {
        let request = request.isEmpty ? get() : get("/a", "Cache-Control: \(request)")
        #expect(verdict(request, stored(response), now) == expected)
    }

    @Test(
        arguments: [
            // (policy, nothing stored, fresh, stale, fresh with no-cache in the request)
            (.default, .load, .serve, .check, .check),
            (.ignore, .load, .load, .load, .load),
            (.revalidate, .load, .check, .check, .check),
            (.askIfStale, .load, .serve, .check, .serve),
            (.onlyIfCached, .notInCache, .serve, .serve, .serve),
            (.returnCacheElseLoad, .load, .serve, .serve, .serve),
            (.loadOnlyIfNotCached, .load, .alreadyCached, .alreadyCached, .alreadyCached),
            (.fallBackOnFailure, .load, .serve, .check, .check),
            (.sessionOnly, .load, .serve, .check, .check),
            (.maxAge(.seconds(100)), .load, .serve, .serve, .check),
            (.maxAge(.zero), .load, .check, .check, .check),
        ] as [(HTTPCachePolicy, Verdict, Verdict, Verdict, Verdict)])
    fileprivate func `each policy decides about stored responses as in C2`(
        policy: HTTPCachePolicy, none: Verdict, fresh: Verdict, stale: Verdict, noCache: Verdict
    ) {
        let response = stored("max-age=60")
        #expect(verdict(get(), nil, 0, policy) == none)
        #expect(verdict(get(), response, 10, policy) == fresh)
        #expect(verdict(get(), response, 70, policy) == stale)
        #expect(verdict(get("/a", "Cache-Control: no-cache"), response, 10, policy) == noCache)
    }

    @Test func `a maximum age of the policy does not override no-cache`() {
        #expect(verdict(get(), stored("no-cache"), 1, .maxAge(.seconds(100))) == .check)
    }

    @Test func `a HEAD is served from a stored GET, and never made conditional`() {
        #expect(verdict(get(method: .head), stored("max-age=60"), 1) == .serve)
        #expect(verdict(get(method: .head), stored("max-age=60"), 61) == .load)
    }

    @Test func `other methods are never served, and are refused if only the cache may answer`() {
        for method in [HTTPRequest.Method.post, .put, .delete, .options] {
            #expect(verdict(get(method: method), stored("max-age=60"), 1) == .load)
            #expect(verdict(get(method: method), stored("max-age=60"), 1, .returnCacheElseLoad) == .load)
            #expect(verdict(get(method: method), stored("max-age=60"), 1, .onlyIfCached) == .notInCache)
        }
    }

    @Test(arguments: [
        "Range: bytes=0-1", "If-Range: \"a\"", "If-Match: \"a\"", "If-None-Match: \"b\"",
        "If-Modified-Since: \(httpDate(0))", "If-Unmodified-Since: \(httpDate(0))",
    ])
    func `the caller's ranges and conditions go to the server unchanged`(line: String) {
        #expect(verdict(get("/a", line), stored("max-age=60"), 1) == .load)
        #expect(verdict(get("/a", line), stored("max-age=60"), 1, .onlyIfCached) == .notInCache)
    }

    // MARK: - Revalidation in the background

    @Test(
        arguments: [
            // (response's directives after max-age=60, request's fields, seconds later, verdict)
            ("stale-while-revalidate=30", "", 59, .serve),
            ("stale-while-revalidate=30", "", 60, .background),
            ("stale-while-revalidate=30", "", 90, .background),
            ("stale-while-revalidate=30", "", 90.5, .check),
            ("stale-while-revalidate=30", "", 91, .check), ("", "", 60, .check),
            ("stale-while-revalidate=0", "", 60, .check), ("stale-while-revalidate=x", "", 60, .check),
            ("stale-while-revalidate", "", 60, .check),
            ("stale-while-revalidate=30, stale-while-revalidate=5", "", 65, .background),
            ("stale-while-revalidate=30, stale-while-revalidate=5", "", 66, .check),
            ("stale-while-revalidate=30, stale-while-revalidate=x", "", 60, .check),
            ("stale-while-revalidate=30, must-revalidate", "", 59, .serve),
            ("stale-while-revalidate=30, must-revalidate", "", 70, .check),
            ("stale-while-revalidate=30, no-cache", "", 70, .check),
            ("stale-while-revalidate=30, no-cache=\"X\"", "", 70, .check),
            ("stale-while-revalidate=30, proxy-revalidate", "", 70, .background),
            ("stale-while-revalidate=30, immutable", "", 70, .background),
            ("stale-while-revalidate=30", "Cache-Control: no-cache", 70, .check),
            ("stale-while-revalidate=30", "Pragma: no-cache", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: no-store", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: max-age=0", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: max-age=100", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: max-age=x", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: min-fresh=0", 60, .check),
            ("stale-while-revalidate=30", "Cache-Control: min-fresh=1", 70, .check),
            ("stale-while-revalidate=30", "Cache-Control: max-stale=10", 70, .background),
            ("stale-while-revalidate=30", "Cache-Control: max-stale=10", 71, .check),
            ("stale-while-revalidate=30", "Cache-Control: max-stale=100", 91, .serve),
            ("stale-while-revalidate=30", "Cache-Control: max-age=100, max-stale", 70, .background),
            ("stale-while-revalidate=30", "Cache-Control: only-if-cached", 70, .serve),
            ("stale-while-revalidate=30", "Cache-Control: only-if-cached", 91, .notInCache),
            ("stale-while-revalidate=30", "Range: bytes=0-1", 70, .load),
            ("stale-while-revalidate=30", "If-None-Match: \"a\"", 70, .load),
        ] as [(String, String, Double, Verdict)])
    fileprivate func `a stale response is served within its window, unless the request or the response forbids it`(
        response: String, request: String, now: Double, expected: Verdict
    ) {
        let response = stored(response.isEmpty ? "max-age=60" : "max-age=60, \(response)")
        #expect(verdict(request.isEmpty ? get() : get("/a", request), response, now) == expected)
    }

    @Test(
        arguments: [
            // (policy, fresh, in the window, after the window)
            (.default, .serve, .background, .check), (.askIfStale, .serve, .background, .check),
            (.sessionOnly, .serve, .background, .check),
            (.fallBackOnFailure, .serve, .background, .check),
            (.revalidate, .check, .check, .check), (.ignore, .load, .load, .load),
            (.onlyIfCached, .serve, .serve, .serve), (.returnCacheElseLoad, .serve, .serve, .serve),
            (.loadOnlyIfNotCached, .alreadyCached, .alreadyCached, .alreadyCached),
            (.maxAge(.seconds(10)), .check, .check, .check),
            (.maxAge(.seconds(80)), .serve, .serve, .check),
            (HTTPCachePolicy(allowsStaleWhileRevalidate: false), .serve, .check, .check),
        ] as [(HTTPCachePolicy, Verdict, Verdict, Verdict)])
    fileprivate func `two readings of the cache use the window of stale-while-revalidate`(
        policy: HTTPCachePolicy, fresh: Verdict, inside: Verdict, after: Verdict
    ) {
        let response = stored("max-age=60, stale-while-revalidate=30")
        #expect(verdict(get(), response, 59, policy) == fresh)
        #expect(verdict(get(), response, 70, policy) == inside)
        #expect(verdict(get(), response, 91, policy) == after)
    }

    @Test
    func `a revalidation in the background has conditions, except for HEAD and without a validator`() {
        let response = stored("max-age=60, stale-while-revalidate=30")
        let conditions = fields("If-None-Match: \"a\"")
        #expect(
            CacheDecision(get(), policy: .default, stored: response, now: at(70))
                == .serveAndRevalidate(adding: conditions))
        #expect(
            CacheDecision(get(method: .head), policy: .default, stored: response, now: at(70))
                == .serveAndRevalidate(adding: [:]))
        let plain = StoredResponse(
            answer(200, "Cache-Control: stale-while-revalidate=30"), requestTime: origin,
            responseTime: origin)
        #expect(
            CacheDecision(get(), policy: .default, stored: plain, now: at(30))
                == .serveAndRevalidate(adding: [:]))
        #expect(
            CacheDecision(get(), policy: .default, stored: plain, now: at(31)) == .load(adding: [:]))
    }

    @Test func `a policy without a statement about stale-while-revalidate gets the default`() throws {
        let saved = Data(
            #"{"reading":"standard","fallsBackOnFailure":false,"retention":"permanent"}"#.utf8)
        #expect(try JSONDecoder().decode(HTTPCachePolicy.self, from: saved) == .default)
        let off = HTTPCachePolicy(allowsStaleWhileRevalidate: false)
        #expect(try JSONDecoder().decode(HTTPCachePolicy.self, from: JSONEncoder().encode(off)) == off)
    }

    // MARK: - Failures

    private func fallback(
        _ control: String, _ now: Double, _ policy: HTTPCachePolicy = .default, _ request: HTTPRequest = get()
    ) -> Double? {
        switch CacheDecision(request, policy: policy, stored: stored(control), now: at(now)) {
        case .load(_, let end?): end == .distantFuture ? .infinity : end.timeIntervalSince(origin)
        default: nil
        }
    }

    @Test(
        arguments: [
            ("max-age=60", 70, nil), ("max-age=60, stale-if-error=30", 70, 90),
            ("max-age=60, stale-if-error=30", 90, 90),
            ("max-age=60, stale-if-error=30", 91, nil), ("max-age=60, stale-if-error=30, must-revalidate", 70, nil),
            ("max-age=60, stale-if-error=30, no-cache", 10, nil), ("stale-if-error=x", 1, nil),
        ] as [(String, Double, Double?)])
    func `stale-if-error allows stale responses for its duration`(control: String, now: Double, end: Double?) {
        #expect(fallback(control, now) == end)
    }

    @Test func `a request can allow stale responses too, and the policy allows them without limit`() {
        #expect(fallback("max-age=60", 70, .default, get("/a", "Cache-Control: stale-if-error=100")) == 160)
        for control in ["max-age=60", "no-cache", "max-age=60, must-revalidate"] {
            #expect(fallback(control, 9999, .fallBackOnFailure) == .infinity)
        }
        let asking = HTTPCachePolicy(.revalidate, fallsBackOnFailure: true)
        #expect(fallback("max-age=60", 1, asking) == .infinity && fallback("max-age=60", 1, .revalidate) == nil)
        #expect(fallback("max-age=60, stale-if-error=5", 1, .revalidate) == 65)
    }

    @Test func `four statuses mean that the server could not answer`() {
        #expect((100...599).filter { CacheDecision.isFailure(.init(code: $0)) } == [500, 502, 503, 504])
    }

    @Test func `policies are saved and restored`() throws {
        let policy = HTTPCachePolicy(
            .returnCacheElseLoad, fallsBackOnFailure: true, maxAge: .seconds(5), retention: .session)
        let data = try JSONEncoder().encode([policy, .default])
        #expect(try JSONDecoder().decode([HTTPCachePolicy].self, from: data) == [policy, .default])
    }
}
