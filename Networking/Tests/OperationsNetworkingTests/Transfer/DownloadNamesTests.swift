import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files of downloads (rule D1).
@Suite(.timeLimit(.minutes(2))) struct DownloadNamesTests {
    private let queue = OperationQueue()

    @Test(arguments: ["x.part", "x.part.json"])
    func `downloads with names like each other's parts keep their files separate`(other: String) async throws {
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

    @Test func `a part that another program replaced does not become the target`() async throws {
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

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `a part of another user is not continued`() async throws {
        let folder = try Folder()
        let resource = LoopbackResource(.pattern(length: 50_000), eTag: "\"a\"")
        let gate = LoopbackGate()
        try await withServer({ request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(20_000), until: gate)) : response
        }) { server in
            let first = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: .plain())
            queue.addOperation(first)
            for await progress in first.transferProgressUpdates where progress.received == 20_000 { break }
            first.cancel()
            _ = await reason { try await first.value }
            #expect(folder.names == [".x.part", ".x.part.json"])
            let foreign = try FileHandle(forUpdating: URL(filePath: folder.file(".x.part")))
            #expect(chown(folder.file(".x.part"), 12345, 0) == 0)
            let second = first.copy()
            queue.addOperation(second)
            _ = try await second.value
            #expect(server.requests.last?.fields[.range] == nil)
            try foreign.write(contentsOf: Data("foreign".utf8))
            #expect(FileManager.default.contents(atPath: folder.file("x")) == Data(resource.body.bytes))
            var status = stat()
            #expect(stat(folder.file("x"), &status) == 0 && status.st_uid == geteuid())
            #expect(folder.names == ["x"])
        }
    }

    @Test(arguments: [".x.part", ".x.part.json", "..", "."])
    func `a target with the name of a part, or without a file name, is refused`(name: String) async throws {
        let folder = try Folder()
        try await withServer({ _ in .text("x") }) { server in
            let download = HTTPDownloadOperation(get(server.url + "/"), to: folder.file(name), session: .plain())
            queue.addOperation(download)
            #expect(await reason { try await download.value }?.text == "unusableName")
            #expect(folder.names.isEmpty)
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
