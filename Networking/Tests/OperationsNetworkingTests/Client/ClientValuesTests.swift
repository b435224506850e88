import Foundation
import HTTPCore
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// Values in a client's coding, counts, and pauses of single handles (rules N1, N2, N4).
@Suite(.timeLimit(.minutes(5))) struct ClientValuesTests {
    private struct User: Codable, Equatable, Sendable {
        var userName: String
    }

    private static let echo: HTTPTestServer.Handler = { request in
        var fields: HTTPFields = [.contentType: request.fields[.contentType] ?? "application/json"]
        fields[.eTag] = request.fields[.accept].map { "\"\($0)\"" }
        let body: LoopbackBody = request.body.isEmpty ? .text("{\"user_name\":\"x\"}") : .bytes(request.body)
        return LoopbackResponse(fields: fields, body: body)
    }

    @Test func `the client's coding writes and reads values by their type`() async throws {
        try await withServer(Self.echo) { server in
            let client = try HTTPClientQueue(base: server.url, session: .plain())
            client.coding = JSONCoding {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return decoder
            } encoder: {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return encoder
            }
            let user: User = try await client.get("/user").value
            #expect(user == User(userName: "x"))
            let text: String = try await client.get("/user").value
            #expect(text == "{\"user_name\":\"x\"}")
            let data: Data = try await client.delete("/user").value
            #expect(data.count == text.utf8.count)
            let sent = User(userName: "y")
            let posted: User = try await client.post("/user", encoding: sent).value
            let put: User = try await client.put("/user", encoding: sent).value
            let patched: User = try await client.patch("/user", encoding: sent).value
            let loaded: User = try await client.load(get("/user")).value
            #expect([posted, put, patched] == [sent, sent, sent] && loaded == user)
            #expect(server.requests.contains { String(decoding: $0.body, as: UTF8.self) == "{\"user_name\":\"y\"}" })
            client.coding = PropertyListCoding()
            let list: User = try await client.post("/user", encoding: sent).value
            #expect(list == sent && server.requests.last?.fields[.contentType] == "application/x-plist")
        }
    }

    @Test func `a value that cannot be encoded is not sent, and a response of another type is an error`() async throws {
        try await withServer(Self.echo) { server in
            let client = try HTTPClientQueue(base: server.url, session: .plain())
            #expect(throws: EncodingError.self) {
                let _: HTTPRequestHandle<Data> = try client.post("/user", encoding: [Double.nan])
            }
            #expect(server.requests.isEmpty)
            let handle: HTTPRequestHandle<Int> = client.get("/user")
            #expect(await reason { try await handle.value }?.text == "undecodable")
        }
    }

    @Test func `encoded bodies set the content type, and the serializer sets Accept`() async throws {
        try await withServer(Self.echo) { server in
            let client = try HTTPClientQueue(base: server.url, session: .plain())
            let form = try await client.post("/", .form(["q": "a b"]), as: .text).value
            #expect(form == "q=a%20b")
            let text = try await client.put("/", .text("ü"), as: .text).value
            #expect(text == "ü")
            let json = try await client.patch("/", try .json(["a": 1]), as: .json([String: Int].self)).value
            #expect(json == ["a": 1])
            #expect(
                server.requests.map { $0.fields[.contentType] } == [
                    "application/x-www-form-urlencoded", "text/plain; charset=utf-8", "application/json",
                ])
            #expect(server.requests[0].fields[.accept] != server.requests[2].fields[.accept])
            #expect(server.requests[2].fields[.accept]?.contains("application/json") == true)
            var own = get("/")
            own.fields[.accept] = "text/json"
            _ = try await client.load(own, as: .json([String: String].self)).value
            #expect(server.requests.last?.fields[.accept] == "text/json")
        }
    }

    @Test func `each request appears in exactly one count`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.path != "/broken" { try? await gate.pass() }
            return request.path == "/broken" ? .text("x").with(.closes(.beforeHead)) : .text("x")
        }) { server in
            let client = try HTTPClientQueue(base: server.url, maxConcurrentRequests: 2, session: .plain())
            #expect(client.counts == HTTPCounts())
            _ = await result { try await client.get("/broken", as: .text).value }
            let running = (0..<2).map { client.get("/\($0)", as: .text) }
            await gate.reached(2)
            let waiting = client.get("/waiting", as: .text)
            let joined = client.get("/waiting", as: .text)
            let paused = client.get("/paused", as: .text)
            paused.transfer?.pause()
            let cancelled = client.get("/cancelled", as: .text)
            // A cancelled request ends when its queue has a slot to start it.
            cancelled.cancel()
            var counts = client.counts
            #expect((counts.running, counts.waiting, counts.paused) == (2, 2, 1))
            #expect((counts.failed, counts.cancelled, counts.finished, counts.coalesced) == (1, 0, 0, 1))
            gate.open()
            paused.transfer?.resume()
            for handle in running + [waiting, joined, paused] { _ = try await handle.value }
            await client.waitUntilIdle()
            counts = client.counts
            #expect(counts.outstanding == 0 && counts.finished == 4 && counts.cancelled == 1 && counts.added == 6)
        }
    }

    @Test func `a pause is reported, also for a waiting request`() async throws {
        let gate = LoopbackGate()
        let resource = LoopbackResource(.pattern(length: 50_000), eTag: "\"a\"")
        try await withServer({ request in
            let response = resource.response(to: request)
            return request.fields[.range] == nil ? response.with(.stalls(.afterBody(20_000), until: gate)) : response
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: .plain())
            let events = client.requestEvents
            client.isSuspended = true
            let handle = client.get("/a", as: .data)
            handle.transfer?.pause()
            handle.transfer?.pause()
            client.isSuspended = false
            handle.transfer?.resume()
            for await progress in try #require(handle.transfer).transferProgressUpdates
            where progress.received == 20_000 { break }
            handle.transfer?.pause()
            handle.transfer?.resume()
            _ = try await handle.value
            var kinds: [String] = []
            for await event in events {
                kinds.append("\(event.kind)".split(separator: "(")[0].description)
                if case .finished = event.kind { break }
            }
            #expect(kinds.first == "paused" && kinds.count { $0 == "started" } == 2 && kinds.last == "finished")
            // The resume may come before or after the transfer has stopped for the second pause.
            #expect(1...2 ~= kinds.count { $0 == "paused" })
        }
    }

    @Test func `a transfer pauses when all its handles are paused, and resumes with the first of them`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            try? await gate.pass()
            return .text("x")
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: .plain())
            client.isSuspended = true
            let (one, other) = (client.get("/", as: .text), client.get("/", as: .text))
            one.pause()
            #expect(one.transfer?.state == .ready)
            other.pause()
            #expect(one.transfer?.state == .paused)
            // A new handle is not paused. After it is cancelled, all remaining handles are paused again.
            let third = client.get("/", as: .text)
            #expect(one.transfer?.state == .ready)
            third.cancel()
            #expect(one.transfer?.state == .paused)
            other.cancel()
            #expect(one.transfer?.state == .paused)
            one.resume()
            #expect(one.transfer?.state == .ready)
            client.isSuspended = false
            gate.open()
            let value = try await one.value
            #expect(value == "x")
        }
    }
}
