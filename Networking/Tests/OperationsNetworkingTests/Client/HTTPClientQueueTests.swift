import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPClientQueueTests {
    @Test func `relative addresses and fields come from the client`() async throws {
        try await withServer({ .text("\($0.method) \($0.target) \($0.fields[.userAgent] ?? "")") }) { server in
            let client = try HTTPClientQueue(base: server.url + "/v1/", fields: [.userAgent: "us"], session: .plain())
            let value1 = try await client.get("a?b", as: .text).value
            #expect(value1 == "GET /v1/a?b us")
            let value2 = try await client.post("/c", .bytes(Data([1])), as: .text).value
            #expect(value2 == "POST /c us")
            let value3 = try await client.put(server.url + "/d", .none, as: .text).value
            #expect(value3 == "PUT /d us")
            let value4 = try await client.patch("e", .none, as: .text).value
            #expect(value4 == "PATCH /v1/e us")
            let value5 = try await client.delete("f", as: .text).value
            #expect(value5 == "DELETE /v1/f us")
            let value6 = try await client.head("g").value.isEmpty
            #expect(value6)
        }
        #expect(throws: HTTPError.self) { try HTTPClientQueue(base: "no address") }
    }

    @Test(arguments: ["", "alice:secret@"])
    func `credentials in the address of a request precede those of the base`(ofBase: String) async throws {
        try await withServer({ .text($0.fields[.authorization] ?? "none") }) { server in
            let base = server.url.replacingOccurrences(of: "://", with: "://\(ofBase)")
            let own = server.url.replacingOccurrences(of: "://", with: "://bob:pw@")
            let client = try HTTPClientQueue(base: base, session: .plain())
            let value = try await client.get(own + "/x", as: .text).value
            #expect(value == "Basic " + Data("bob:pw".utf8).base64EncodedString())
        }
    }

    @Test func `a client's credentials go to its base only`() async throws {
        try await withServer({ .text($0.fields[.authorization] ?? "none") }) { server in
            let client = try HTTPClientQueue(
                base: server.url, fields: [.authorization: "Bearer x"], session: .plain())
            let (own, other) = (
                try await client.get("a", as: .text).value,
                try await client.get(server.localhostURL + "/a", as: .text).value
            )
            #expect(own == "Bearer x" && other == "none")
        }
    }

    @Test(arguments: [true, false])
    func `a client's credential fields go to its base only, and follow no redirect to another origin`(
        isNamedByRequest: Bool
    ) async throws {
        let key = try #require(HTTPField.Name("X-Api-Key"))
        try await withServer({ .text($0.fields[key] ?? "none") }) { other in
            try await withServer({ request in
                request.path == "/away"
                    ? LoopbackResponse(.found, fields: [.location: other.url + "/"])
                    : .text(request.fields[key] ?? "none")
            }) { server in
                let client = try HTTPClientQueue(base: server.url, fields: [key: "secret"], session: .plain())
                if !isNamedByRequest { client.credentialFields = ["x-api-KEY"] }
                var found: [String] = []
                for url in ["/own", other.url + "/", "/away"] {
                    var request = get(url)
                    if isNamedByRequest { request.redirects.credentialFields = ["x-api-KEY"] }
                    found.append(try await client.load(request, as: .text).value)
                }
                #expect(found == ["secret", "none", "none"])
            }
        }
    }

    @Test func `without sharing, each request has its own transfer`() async throws {
        try await withServer({ .text("\($0.number)") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            #expect(client.sharesTransfers)
            client.sharesTransfers = false
            client.isSuspended = true
            let handles = (0..<3).map { _ in client.get(server.url + "/", as: .text) }
            client.sharesTransfers = true
            let joining = client.get(server.url + "/", as: .text)
            let joined = client.get(server.url + "/", as: .text)
            client.isSuspended = false
            var answers: Set<String> = []
            for handle in handles + [joining, joined] { answers.insert(try await handle.value) }
            #expect(answers.count == 4 && client.counts.coalesced == 1)
        }
    }

    @Test func `ten thousand requests for one address make one transfer`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            try? await gate.pass()
            return .text("once")
        }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let handles = (0..<10_000).map { _ in client.get(server.url + "/", as: .text) }
            gate.open()
            for handle in handles {
                let value = try await handle.value
                #expect(value == "once")
            }
            #expect(server.requests.count == 1)
            let value7 = try await client.get(server.url + "/", as: .text).value
            #expect(value7 == "once")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `requests that differ in any property do not share, nor do unsafe requests`() async throws {
        try await withServer({ .text("\($0.number)") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            var other = get(server.url + "/")
            other.fields[.accept] = "text/html"
            let handles = [
                client.get(server.url + "/", as: .text), client.load(other, as: .text),
                client.get(server.url + "/?", as: .text), client.delete(server.url + "/", as: .text),
                client.delete(server.url + "/", as: .text),
            ]
            client.isSuspended = false
            var answers: Set<String> = []
            for handle in handles { answers.insert(try await handle.value) }
            #expect(answers.count == 5)
        }
    }

    @Test func `each handle is cancelled separately, and the last one stops the transfer`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            LoopbackResponse(body: .pattern(length: 1000)).with(.stalls(.afterBody(10), until: gate))
        }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let handles = (0..<3).map { _ in client.get(server.url + "/", as: .data) }
            await gate.reached()
            handles[0].cancel()
            #expect(await reason { try await handles[0].value }?.text == "cancelled")
            #expect(handles[1].transfer?.isCancelled == false)
            handles[1].cancel()
            handles[2].cancel()
            for handle in handles { #expect(await reason { try await handle.value }?.text == "cancelled") }
            await client.waitUntilIdle()
            await server.openConnections(are: 0)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a transfer has the highest priority of its handles, and rises when handles join`() throws {
        let client = try HTTPClientQueue(session: .plain())
        client.isSuspended = true
        let low = client.get("http://127.0.0.1:1/", as: .data, priority: .low)
        #expect(low.transfer?.queuePriority == .low)
        let high = client.get("http://127.0.0.1:1/", as: .data, priority: .veryHigh)
        #expect(low.transfer === high.transfer && low.transfer?.queuePriority == .veryHigh)
        high.priority = .normal
        #expect(low.transfer?.queuePriority == .normal)
        high.cancel()
        #expect(low.transfer?.queuePriority == .low)
        client.cancelAll()
    }

    @Test func `the limit for each host holds, and hosts take turns`() async throws {
        let gate = LoopbackGate()
        let handler: HTTPTestServer.Handler = { request in
            try? await gate.pass()
            return .text(request.path)
        }
        try await withServer(handler) { one in
            try await withServer(handler) { other in
                let client = try HTTPClientQueue(
                    maxConcurrentRequests: 3, maxConcurrentRequestsPerHost: 2, session: .plain())
                let handles =
                    (0..<6).map { client.get(one.url + "/\($0)", as: .text) }
                    + [client.get(other.url + "/x", as: .text)]
                await gate.reached(3)
                #expect(one.requests.count == 2 && other.requests.count == 1)
                gate.open()
                for handle in handles { _ = try await handle.value }
            }
        }
    }

    @Test func `the events of requests are reported in order`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let events = client.requestEvents
            _ = try await client.get(server.url + "/a", as: .text).value
            var kinds: [String] = []
            for await event in events {
                #expect(event.url == server.url + "/a")
                kinds.append("\(event.kind)".split(separator: "(")[0].description)
                if case .finished = event.kind { break }
            }
            #expect(kinds == ["started", "response", "finished"])
        }
    }
}
