import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
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
