import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

/// Tests of the caller's hooks (rule I2) and of failures (rule I3).
@Suite(.timeLimit(.minutes(5))) struct ImageHookTests {
    private struct Wrong: Error {}

    @Test(arguments: [true, false]) func `requests accept the decoder's types, and other types as the last resort`(
        isStandard: Bool
    ) async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { if isStandard { $0.decoder = StandardImageDecoder() } }
            _ = await loader.load(server.url + "/a").ending
            let types = isStandard ? "image/jpeg, image/png, image/gif, image/webp" : "image/*"
            #expect(server.requests.first?.fields[.accept] == types + ", */*;q=0.1")
        }
    }

    @Test func `a request modifier changes a transfer's request once, and nil refuses it`() async throws {
        let (calls, areJoined) = (Journal<String>(), AsyncGate())
        try await HTTPTestServer.with(handler: { $0.fields[.authorization] == "me" ? .image(4, 2) : .notFound }) {
            server in
            let loader = ImageLoader.plain {
                $0.requestModifier = { request in
                    calls.append(request.url)
                    await areJoined.pass()
                    if request.url.hasSuffix("/no") { return nil }
                    var request = request
                    request.fields[.authorization] = "me"
                    return request
                }
            }
            let (one, other) = (loader.load(server.url + "/a"), loader.load(server.url + "/a", options: .thumbnail(2)))
            areJoined.open()
            #expect(await one.ending == "4x2 network")
            #expect(await other.ending == "2x1 network")
            #expect(calls.entries == [server.url + "/a"])
            for _ in 0..<2 { #expect(await loader.load(server.url + "/no").ending == "requestRefused") }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a request cancelled during the request modifier sends nothing`() async throws {
        let (begun, mayContinue) = (AsyncGate(), AsyncGate())
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let isOver = AsyncGate()
            let loader = ImageLoader.plain {
                $0.requestModifier = { request in
                    begun.open()
                    await mayContinue.pass()
                    isOver.open()
                    return request
                }
            }
            let handle = loader.load(server.url + "/a")
            await begun.pass()
            handle.cancel()
            #expect(await handle.ending == "cancelled")
            mayContinue.open()
            await isOver.pass()
            // A request of the cancelled handle would arrive before this request.
            #expect(await loader.load(server.url + "/b").ending == "4x2 network")
            #expect(server.requests.map(\.path) == ["/b"])
        }
    }

    @Test func `a response modifier changes the head before the check, and nil refuses it`() async throws {
        try await HTTPTestServer.with(handler: { _ in
            LoopbackResponse(.notFound, fields: [.contentType: "text/html"], body: .text("4x2\n"))
        }) { server in
            let loader = ImageLoader.plain {
                $0.responseModifier = { response in
                    var response = response
                    if response.headerFields[.contentType] == nil { return nil }
                    (response.status, response.headerFields[.contentType]) = (.ok, "image/png")
                    return response
                }
            }
            #expect(await loader.load(server.url + "/a").ending == "4x2 network")
            let refusing = ImageLoader.plain { $0.responseModifier = { _ in nil } }
            #expect(await refusing.load(server.url + "/a").ending == "responseRefused")
            let plain = ImageLoader.plain()
            #expect(await plain.load(server.url + "/a").ending == "unacceptableStatus")
        }
    }

    @Test func `encrypted data stays encrypted on disk`() async throws {
        try await HTTPTestServer.with(handler: { request in
            LoopbackResponse(
                fields: [.contentType: "application/octet-stream"],
                body: .bytes((request.path == "/bad" ? "?" : "!4x2\n").utf8))
        }) { server in
            let cache = HTTPCache.inMemory()
            let loader = ImageLoader.plain {
                $0.cache = cache
                $0.decryptor = { data in
                    guard data.first == UInt8(ascii: "!") else { throw Wrong() }
                    return Data(data.dropFirst())
                }
            }
            #expect(await loader.load(server.url + "/a", options: .thumbnail(2)).ending == "2x1 network")
            await loader.waitUntilIdle()
            #expect(await cache.data(forKey: server.url + "/a") == Data("!4x2\n".utf8))
            #expect(await cache.count == 1)
            #expect(await loader.load(server.url + "/a").ending == "4x2 disk")
            #expect(await loader.load(server.url + "/bad").ending == "decryption")
        }
    }

    @Test func `each kind of failure has a specific error`() async throws {
        @Sendable func response(_ type: String?, _ text: String) -> LoopbackResponse {
            LoopbackResponse(fields: type.map { [.contentType: $0] } ?? [:], body: .text(text))
        }
        try await HTTPTestServer.with(handler: { request in
            switch request.path {
            case "/status": .notFound
            case "/type": response("text/html; charset=utf-8", "4x2")
            case "/untyped": response(nil, "4x2")
            case "/empty": response("image/png", "")
            case "/zero": response("image/png", "0x7")
            case "/unknown": response("image/png", "what?")
            case "/large": response("image/png", "90000x90000")
            default: .image(4, 2).with(.closesUnanswered)
            }
        }) { server in
            let loader = ImageLoader.plain()
            var found: [String: String] = [:]
            for path in ["/status", "/type", "/untyped", "/empty", "/zero", "/unknown", "/large", "/lost"] {
                let handle = loader.load(server.url + path)
                guard let failure = await handle.failure else {
                    found[path] = await handle.ending
                    continue
                }
                #expect(failure.url == server.url + path && failure.description.hasPrefix(failure.url))
                switch failure.reason {
                case .unacceptableStatus(let status): found[path] = "\(status)"
                case .unacceptableType(let type): found[path] = type
                case .image(let error): found[path] = "\(error)"
                case .transfer: found[path] = "transfer"
                default: found[path] = failure.description
                }
                if path != "/lost" { #expect(failure.response?.status == (path == "/status" ? .notFound : .ok)) }
            }
            #expect(
                found == [
                    "/status": "404", "/type": "text/html; charset=utf-8", "/untyped": "4x2 network",
                    "/empty": "the data is empty", "/zero": "the png image has no pixels",
                    "/unknown": "the data is not JPEG, PNG, GIF or WebP",
                    "/large": "decoding needs 32400000000 bytes, and memoryLimit allows 536870912", "/lost": "transfer",
                ])
            #expect(await loader.load("no address").ending == "transfer")
        }
    }

    @Test func `hostile dimensions are refused before decoding, and the bytes determine the format`() async throws {
        try await HTTPTestServer.with(handler: { request in
            let bytes = request.path == "/bomb" ? ImageFiles.png(100_000, 100_000) : ImageFiles.gif()
            return LoopbackResponse(fields: [.contentType: "image/jpeg"], body: .bytes(bytes))
        }) { server in
            let loader = ImageLoader.plain(StandardImageDecoder())
            let bomb = loader.load(server.url + "/bomb", options: .thumbnail(10))
            guard case .image(.tooLarge(neededBytes: 40_000_000_000, allowedBytes: _)) = await bomb.failure?.reason
            else {
                Issue.record("the image was not refused")
                return
            }
            let small = loader.load(server.url + "/small")
            #if Images
            #expect(await small.ending == "1x1 network")
            #else
            guard case .image(.builtWithoutImages) = await small.failure?.reason else {
                Issue.record("there is no decoder")
                return
            }
            // The failure is not remembered, because another build of the program has a decoder.
            #expect(await loader.load(server.url + "/small").ending == "image")
            #endif
        }
    }

    @Test func `an image can be the value of a request`() async throws {
        try await HTTPTestServer.with(handler: { $0.path == "/text" ? .text("4x2") : .image(4, 2) }) { server in
            let client = try HTTPClientQueue(session: .still())
            let options = ImageDecodingOptions(maxPixelSize: 2)
            let image = try await client.get(server.url + "/a", as: .image(options, decoder: StubDecoder())).value
            #expect(image.width == 2)
            let error = await #expect(throws: HTTPError.self) {
                try await client.get(server.url + "/text", as: .image(decoder: StubDecoder())).value
            }
            guard case .unacceptableType = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a custom decoder's error is reported as a decoder error`() async throws {
        struct Failing: ImageDecoder {
            func decode(_: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage {
                throw Wrong()
            }
        }
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let failure = await ImageLoader.plain(Failing()).load(server.url + "/a").failure
            guard case .decoder(let error) = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(error is Wrong)
        }
    }
}
