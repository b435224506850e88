import Foundation
import HTTPCaching
import HTTPCore
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// Tests against an independent server, if it is installed.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Nginx.program != nil)) struct NginxTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()
    private let pattern = Data(LoopbackBody.pattern(length: 3 << 20).bytes)

    init() { queue.maxConcurrentOperationCount = 1 }

    private func run<Value>(_ operation: HTTPDataOperation<Value>) async throws -> Value {
        queue.addOperation(operation)
        return try await operation.value
    }

    private func load(_ url: String, _ session: HTTPSession? = nil) async throws -> Data {
        try await run(HTTPDataOperation(get(url), session: session ?? self.session))
    }

    // MARK: - Responses

    @Test func `compressed responses are decompressed, and a download requests no compression`() async throws {
        let text = Data(String(repeating: "the same again, ", count: 20_000).utf8)
        let nginx = try await Nginx("gzip on; gzip_types text/plain;", files: ["a.txt": text])
        let operation = HTTPDataOperation(get(nginx.url + "/a.txt"), session: session)
        let value = try await run(operation)
        #expect(value == text)
        #expect(operation.response?.headerFields[.contentEncoding] == "gzip")
        let folder = try Folder()
        let download = HTTPDownloadOperation(get(nginx.url + "/a.txt"), to: folder.file("a"), session: session)
        queue.addOperation(download)
        let path = try await download.value
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
        #expect(download.response?.headerFields[.contentEncoding] == nil)
    }

    @Test(arguments: [("/none", 404), ("/secret", 403), ("/broken", 500)])
    func `a refusal is an error with the status`(path: String, status: Int) async throws {
        let nginx = try await Nginx("location /secret { deny all; } location /broken { return 500; }")
        let operation = HTTPDataOperation(get(nginx.url + path), session: session)
        await #expect {
            try await run(operation)
        } throws: { error in
            if case .unacceptableStatus(status) = (error as? HTTPError)?.reason { true } else { false }
        }
        #expect(operation.response?.status.code == status)
    }

    @Test(arguments: [1, 3, 1000])
    func `a connection that nginx closes after some requests is not reused`(requests: Int) async throws {
        let nginx = try await Nginx("keepalive_requests \(requests);", files: ["a": Data("a".utf8)])
        for _ in 0..<20 {
            let value = try await load(nginx.url + "/a")
            #expect(value == Data("a".utf8))
        }
    }

    @Test func `redirects are followed, and loops are detected`() async throws {
        let nginx = try await Nginx(
            "location /old { return 301 /a; } location /loop { return 302 /loop; }", files: ["a": Data("a".utf8)])
        let moved = HTTPDataOperation(get(nginx.url + "/old"), session: session)
        let value = try await run(moved)
        #expect(value == Data("a".utf8))
        #expect(moved.redirects.count == 1)
        let why = await reason { try await load(nginx.url + "/loop") }
        #expect(why?.text == "redirectLoop")
    }

    @Test func `nginx asks for a password and gets it`() async throws {
        let nginx = try await Nginx(
            "auth_basic here; auth_basic_user_file $FOLDER/www/.users;",
            files: ["a": Data("a".utf8), ".users": Data("Aladdin:{PLAIN}open sesame\n".utf8)])
        struct Known: HTTPCredentialSource {
            func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
                challenge.challenges.first?.realm == "here" ? .password(user: "Aladdin", password: "open sesame") : nil
            }
        }
        let value = try await load(nginx.url + "/a", .plain { $0.credentials = Known() })
        #expect(value == Data("a".utf8))
        let why = await reason { try await load(nginx.url + "/a") }
        #expect(why?.text == "unacceptableStatus")
        let log = await nginx.log(atLeast: 3)
        #expect(log.map { $0.split(separator: " ")[2] } == ["401", "200", "401"])
    }

    // MARK: - The cache

    @Test func `nginx revalidates a cached response until the file changes`() async throws {
        let nginx = try await Nginx("add_header Cache-Control max-age=0;", files: ["a": Data("first".utf8)])
        let session = HTTPSession.plain { $0.cache = .inMemory() }
        for (isFromCache, text) in [(false, "first"), (true, "first"), (false, "another")] {
            // nginx makes the tag of time and length.
            if text == "another" { try Data(text.utf8).write(to: URL(filePath: nginx.path("a"))) }
            let operation = HTTPDataOperation(get(nginx.url + "/a"), as: .text, session: session)
            let value = try await run(operation)
            #expect(value == text && operation.servedFromCache == isFromCache)
        }
        let log = await nginx.log(atLeast: 3)
        #expect(log.map { $0.split(separator: " ")[2] } == ["200", "304", "200"])
    }

    // MARK: - Parts

    @Test(arguments: [false, true])
    func `a paused download continues by ranges, or starts over if the file has changed`(
        isChanged: Bool
    ) async throws {
        // Almost a minute, unless the request asks for a part.
        let nginx = try await Nginx(
            "set $limit_rate 64k; if ($http_range) { set $limit_rate 0; }", files: ["a": pattern])
        let folder = try Folder()
        let download = HTTPDownloadOperation(get(nginx.url + "/a"), to: folder.file("a"), session: session)
        queue.addOperation(download)
        for await progress in download.transferProgressUpdates where progress.received > 0 { break }
        download.pause()
        // This task gets the slot that the pause has freed.
        await queue.addTask {}.waitUntilFinished()
        #expect(download.state == .paused)
        var expected = pattern
        if isChanged {
            expected = Data(expected.reversed()) + [1]
            try expected.write(to: URL(filePath: nginx.path("a")))
        }
        download.resume()
        let path = try await download.value
        #expect(try Data(contentsOf: URL(filePath: path)) == expected)
        // In any order, because nginx notices a closed connection only at its next write.
        let log = await nginx.log(atLeast: 2)
        #expect(log.contains { $0.hasPrefix("GET /a \(isChanged ? 200 : 206) bytes=") })
    }

    // MARK: - Uploads

    @Test func `a file and a form arrive complete`() async throws {
        let nginx = try await Nginx(
            "location /in/ { alias $FOLDER/www/; dav_methods PUT DELETE; client_max_body_size 10m; }",
            files: ["source": pattern])
        var put = HTTPRequestDescription(.put, nginx.url + "/in/copy")
        put.body = .file(path: nginx.path("source"))
        _ = try await run(HTTPDataOperation(put, session: session))
        #expect(try Data(contentsOf: URL(filePath: nginx.path("copy"))) == pattern)
        var form = MultipartForm()
        form.append("file", filePath: nginx.path("source"))
        put.url = nginx.url + "/in/form"
        put.body = .multipart(form)
        _ = try await run(HTTPDataOperation(put, session: session))
        let arrived = try Data(contentsOf: URL(filePath: nginx.path("form")))
        #expect(arrived.count > pattern.count && arrived.firstRange(of: pattern) != nil)
        _ = try await run(HTTPDataOperation(HTTPRequestDescription(.delete, nginx.url + "/in/copy"), session: session))
        #expect(!FileManager.default.fileExists(atPath: nginx.path("copy")))
    }

    @Test func `an upload that is too large is refused by its status, though nginx reads none of it`() async throws {
        let nginx = try await Nginx("location / { client_max_body_size 1k; }")
        for _ in 0..<20 {
            var request = HTTPRequestDescription(.post, nginx.url + "/")
            request.body = .bytes(Data(count: 32 << 20))
            let operation = HTTPDataOperation(request, session: session)
            let why = await reason { try await run(operation) }
            #expect(why?.text == "unacceptableStatus")
            #expect(operation.response?.status.code == 413)
        }
    }
}
