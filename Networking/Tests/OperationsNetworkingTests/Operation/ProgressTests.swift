import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// Progress reports, and Foundation's `Progress` (rule R6).
@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()

    @Test(arguments: [LoopbackResponse.Framing.contentLength, .chunked])
    func `reported steps add up to the whole, also for an unknown length`(
        framing: LoopbackResponse.Framing
    ) async throws {
        try await withServer({ _ in LoopbackResponse(body: .pattern(length: 500_000), framing: framing) }) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            let reports = operation.downloadProgressUpdates()
            queue.addOperation(operation)
            var all: [TransferProgress] = []
            for await report in reports { all.append(report) }
            #expect(all.map(\.newBytes).reduce(0, +) == 500_000)
            #expect(all.last?.completedBytes == 500_000 && all.last?.isComplete == true)
            #expect(framing == .chunked || all.dropFirst().allSatisfy { $0.totalBytes == 500_000 })
        }
    }

    @Test func `steps below the minimum are not reported`() async throws {
        let gate = LoopbackGate()
        let body = LoopbackBody.pattern(length: 1000)
        try await withServer({ _ in LoopbackResponse(body: body).with(.stalls(.afterBody(100), until: gate)) }) {
            server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            let reports = operation.downloadProgressUpdates(minimumStep: 0.5)
            queue.addOperation(operation)
            for await progress in operation.transferProgressUpdates where progress.received == 100 { break }
            gate.open()
            _ = try await operation.value
            var totals: [Int64] = []
            for await report in reports { totals.append(report.completedBytes) }
            #expect(!totals.contains(100) && totals.last == 1000)
        }
    }

    @Test func `Progress counts bytes, and cancels, pauses and resumes its operation`() async throws {
        let gate = LoopbackGate()
        let resource = LoopbackResource(.pattern(length: 100_000), eTag: "\"a\"")
        try await withServer({ request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(60_000), until: gate)) : response
        }) { server in
            queue.maxConcurrentOperationCount = 1
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            let progress = operation.makeDownloadProgress()
            #expect(progress.isIndeterminate && progress.completedUnitCount == 0)
            queue.addOperation(operation)
            for await progress in operation.transferProgressUpdates where progress.received == 60_000 { break }
            progress.pause()
            await queue.addTask {}.waitUntilFinished()
            #expect(operation.state == .paused)
            #expect(progress.completedUnitCount == 60_000 && progress.totalUnitCount == 100_000)
            progress.resume()
            _ = try await operation.value
            #expect(progress.isFinished && progress.fractionCompleted == 1)
            let copy = operation.copy()
            // Foundation calls the cancellation handler on another thread.
            copy.makeDownloadProgress().cancel()
            while !copy.isCancelled { await Task.yield() }
            queue.addOperation(copy)
            let why = await reason { try await copy.value }
            #expect(why?.text == "cancelled")
        }
    }

    /// Answers of a server that make the session send the body once more.
    enum Repetition: CaseIterable { case challenge, redirect, redirectToChallenge, retry }

    private func route(_ repetition: Repetition) -> [LoopbackRoute] {
        let taken = LoopbackRoute.always("/", LoopbackResponse.text("taken"))
        let there = LoopbackRoute.always("/there", LoopbackResponse.text("taken"))
        return switch repetition {
        case .challenge: [.basic(user: "a", password: "b", then: taken)]
        case .redirect: [.redirect("/", to: "/there", .permanentRedirect), there]
        case .redirectToChallenge:
            [.redirect("/", to: "/there", .temporaryRedirect), .digest(user: "a", password: "b", then: there)]
        case .retry: [.unavailable(times: 2, then: taken)]
        }
    }

    private struct Wallet: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }

    @Test(arguments: Repetition.allCases, ["bytes", "file", "form"])
    func `upload progress counts a body that is sent again only once`(repetition: Repetition, kind: String) async throws
    {
        let folder = try Folder()
        let bytes = Data(LoopbackBody.pattern(length: 300_000).bytes)
        try bytes.write(to: URL(filePath: folder.file("body")))
        var form = MultipartForm()
        form.append("file", filePath: folder.file("body"))
        let body: HTTPRequestBody =
            switch kind {
            case "bytes": .bytes(bytes)
            case "file": .file(path: folder.file("body"))
            default: .multipart(form)
            }
        let routes = LoopbackRoutes(route(repetition))
        try await withServer({ await routes.answer($0) }) { server in
            let session = HTTPSession.plain {
                $0.credentials = Wallet()
                $0.retryPolicy = RetryPolicy(retries: 2, backoff: .constant(.zero))
            }
            var request = HTTPRequestDescription(.put, server.url + "/", body: body)
            request.retrySafety = .idempotent
            let operation = HTTPDataOperation(request, as: .text, session: session)
            let seen = Guarded<[HTTPProgress]>([])
            operation.whenProgress { progress in seen.withLock { $0.append(progress) } }
            let (reports, progress) = (operation.uploadProgressUpdates(), operation.makeUploadProgress())
            queue.addOperation(operation)
            #expect(try await operation.value == "taken")
            let total = try #require(server.requests.last?.bodyLength)
            #expect(server.requests.count > 1 && server.requests.allSatisfy { $0.bodyLength == total })
            let sent = seen.withLock { $0 }
            #expect(sent.map(\.sent) == sent.map(\.sent).sorted() && sent.last?.sent == total)
            #expect(sent.allSatisfy { $0.sent <= total && $0.toSend ?? total == total })
            var new: Int64 = 0
            for await report in reports { new += report.newBytes }
            #expect(new == total && operation.uploadProgress.completedBytes == total)
            #expect(progress.completedUnitCount == total && progress.totalUnitCount == total)
            #expect(operation.metrics.sent == total * Int64(server.requests.count))
        }
    }

    @Test func `the progress of an upload never decreases, and never exceeds the length`() {
        var record = TransferRecord(url: "")
        func progress() -> [Int64] { [record.sent, record.toSend ?? -1] }
        let first = record.beginBody(length: 100)
        #expect(record.sent(60, ofBody: first, at: 0) && progress() == [60, 100])
        let second = record.beginBody(length: 100)
        #expect(!record.sent(40, ofBody: first, at: 0) && progress() == [60, 100])
        #expect(record.sent(50, ofBody: second, at: 0) && progress() == [60, 100])
        #expect(record.sent(20, ofBody: second, at: 0) && progress() == [70, 100])
        #expect(record.sent(90, ofBody: second, at: 0) && progress() == [100, 100])
        let shorter = record.beginBody(length: 30)
        #expect(progress() == [30, 30])
        #expect(record.sent(10, ofBody: shorter, at: 0) && progress() == [30, 30])
        let unknown = record.beginBody(length: nil)
        #expect(record.sent(40, ofBody: unknown, at: 0) && progress() == [40, -1])
        #expect(record.metrics.sent == 60 + 50 + 20 + 90 + 10 + 40)
    }

    @Test func `upload progress is separate from download progress`() async throws {
        try await withServer({ _ in LoopbackResponse.text("ok") }) { server in
            let request = HTTPRequestDescription(.post, server.url + "/", body: .bytes(Data(count: 200_000)))
            let operation = HTTPDataOperation(request, session: session)
            let (reports, progress) = (operation.uploadProgressUpdates(), operation.makeUploadProgress())
            queue.addOperation(operation)
            var new: Int64 = 0
            for await report in reports { new += report.newBytes }
            #expect(new == 200_000)
            #expect(progress.completedUnitCount == 200_000 && progress.totalUnitCount == 200_000)
        }
    }
}
