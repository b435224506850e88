import Foundation
import Glibc
import HTTPTestServer
import HTTPTypes
import Operations
import OperationsNetworking
import Testing

/// A process that has no free descriptors.
@Suite(.timeLimit(.minutes(5))) struct DescriptorsTests {
    @Test func `without a free descriptor each request fails with its reason, and later requests succeed`() async {
        // In a process of its own, because the limit is that of the process.
        await #expect(processExitsWith: .success) {
            try await withServer({ _ in .text("x") }) { server in
                let folder = try Folder()
                let body = folder.file("body")
                try Data("body".utf8).write(to: URL(filePath: body))
                let (session, queue) = (HTTPSession.plain(), OperationQueue())
                func outcomes() async -> [String] {
                    let data = HTTPDataOperation(get(server.url + "/a"), session: session)
                    let upload = HTTPDataOperation(
                        HTTPRequestDescription(.post, server.url + "/b", body: .file(path: body)), session: session)
                    let download = HTTPDownloadOperation(get(server.url + "/c"), to: folder.file("c"), session: session)
                    let stream = HTTPStreamOperation(get(server.url + "/d"), session: session)
                    for operation in [data, upload, download, stream] as [HTTPOperation] {
                        queue.addOperation(operation)
                    }
                    return [
                        await reason { try await data.value }?.text ?? "",
                        await reason { try await upload.value }?.text ?? "",
                        await reason { try await download.value }?.text ?? "",
                        await reason { for try await _ in stream.body {} }?.text ?? "",
                    ]
                }
                let taken = try takeDescriptors()
                let without = await outcomes()
                taken.forEach { close($0) }
                let after = await outcomes()
                #expect(without == ["connection", "cannotRead", "cannotWrite", "connection"])
                #expect(after == ["", "", "", ""])
                #expect(folder.names == ["body", "c"])
            }
        }
    }
}

/// Takes all descriptors that the process may have.
private func takeDescriptors() throws -> [Int32] {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 256
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var taken: [Int32] = []
    while case let descriptor = dup(2), descriptor >= 0 { taken.append(descriptor) }
    return taken
}
