#if Networking
import Foundation
import HTTPTypes
import LoopbackServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// Where downloads write (rule D1).
@Suite(.timeLimit(.minutes(2))) struct DownloadNamesTests {
    private let queue = OperationQueue()

    @Test(arguments: ["x.part", "x.part.json"])
    func `downloads whose names resemble each other's parts keep their files apart`(other: String) async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        let (one, two) = (LoopbackBody.pattern(length: 50_000), LoopbackBody.pattern([1, 2, 3], length: 40_000))
        try await withServer({ request in
            let resource = LoopbackResource(request.path == "/one" ? one : two, eTag: "\"a\"")
            let response = resource.response(to: request)
            return request.path == "/one" ? response.with(.stalls(.afterBody(20_000), until: gate)) : response
        }) { server in
            let first = HTTPDownloadOperation(get(server.url + "/one"), to: folder.file("x"), session: .plain())
            queue.addOperation(first)
            for await progress in first.transferProgressUpdates where progress.received == 20_000 { break }
            let second = HTTPDownloadOperation(get(server.url + "/two"), to: folder.file(other), session: .plain())
            queue.addOperation(second)
            _ = try await second.value
            gate.open()
            _ = try await first.value
            #expect(folder.names == ["x", other])
            #expect(FileManager.default.contents(atPath: folder.file("x")) == Data(one.bytes))
            #expect(FileManager.default.contents(atPath: folder.file(other)) == Data(two.bytes))
        }
    }

    @Test func `a part that another program has replaced does not become the target`() async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        let resource = LoopbackResource(.pattern(length: 50_000), eTag: "\"a\"")
        try await withServer({ resource.response(to: $0).with(.stalls(.afterBody(20_000), until: gate)) }) { server in
            let download = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: .plain())
            queue.addOperation(download)
            for await progress in download.transferProgressUpdates where progress.received == 20_000 { break }
            let part = try #require(folder.names.first { $0.hasSuffix(".part") })
            try Data("foreign".utf8).write(to: URL(filePath: folder.file(part)), options: .atomic)
            gate.open()
            #expect(await reason { try await download.value }?.text == "cannotWrite")
            #expect(!folder.names.contains("x"))
        }
    }

    @Test(arguments: [240, 246, 250, 255])
    func `a name may be as long as the file system allows`(length: Int) async throws {
        let folder = try Folder()
        try await withServer({ _ in .text("x") }) { server in
            let names = [String(repeating: "a", count: length), String(repeating: "a", count: length - 1) + "b"]
            let downloads = names.map {
                HTTPDownloadOperation(get(server.url + "/"), to: folder.file($0), session: .plain())
            }
            for download in downloads { queue.addOperation(download) }
            for download in downloads { _ = try await download.value }
            #expect(folder.names == names)
        }
    }
}
#endif
