#if Durable
import DashboardCore
import OperationsDurable
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@testable import OperationsDashboard

private struct Resize: DurableOperation {
    static let name = "resize"
    var photo: String

    func run(_ context: DurableContext) async throws { if photo == "broken.jpg" { throw Unreadable() } }

    struct Unreadable: Error, CustomStringConvertible { let description = "the photo is unreadable" }
}

/// Makes a store in a folder that is removed afterwards.
func withStore(_ body: (SQLiteStore) async throws -> Void) async throws {
    var template = Array("/tmp/dashboard-XXXXXX".utf8CString)
    let folder = String(cString: mkdtemp(&template))
    defer { for name in ["work.db", "work.db-wal", "work.db-shm", ""] { remove("\(folder)/\(name)") } }
    try await body(try await SQLiteStore(path: "\(folder)/work.db"))
}

@Suite struct DurableSourceTests {
    private func source(
        _ store: SQLiteStore, _ change: (inout Dashboard.Configuration) -> Void = { _ in }
    ) -> DurableSource {
        var configuration = Dashboard.Configuration()
        change(&configuration)
        return DurableSource(store, name: "photos", id: "s0", configuration: configuration)
    }

    private func ask(_ source: DurableSource, _ question: Question) async -> Result<JSON, HTTPStatus> {
        await withCheckedContinuation { continuation in source.answer(question) { continuation.resume(returning: $0) } }
    }

    private func text(_ result: Result<JSON, HTTPStatus>) -> String {
        (try? result.get()).map { String(decoding: $0.bytes, as: UTF8.self) } ?? "\(result)"
    }

    @Test func `the numbers, the rows and the explanation of a store are on the page`() async throws {
        try await withStore { store in
            let photos = DurableQueue("photos", in: store)
            let first = try await photos.add(Resize(photo: "a.jpg"))
            let second = try await photos.add(Resize(photo: "b.jpg"), after: [first])
            let source = source(store)
            let overview = text(await ask(source, .overview))
            #expect(overview.contains(#""kind":"durable","name":"photos","running":0,"ready":1,"waiting":1"#))
            #expect(overview.contains(#""name":"photos","suspended":false"#))
            let rows = text(await ask(source, .operations(OperationSearch(state: "ready"))))
            #expect(rows.contains(#""id":"\#(first.id.rawValue)","name":"resize","state":"ready","queue":"photos""#))
            #expect(!rows.contains(#""id":"\#(second.id.rawValue)""#))
            let detail = text(await ask(source, .operation(second.id.rawValue)))
            #expect(detail.contains("explanation") && detail.contains("resize"))
            #expect(await ask(source, .operation(99)) == .failure(.notFound))
        }
    }

    @Test func `an input is hidden unless the program permits it`() async throws {
        try await withStore { store in
            let added = try await DurableQueue("photos", in: store).add(Resize(photo: "secret.jpg"))
            let question = Question.operation(added.id.rawValue)
            #expect(!text(await ask(source(store), question)).contains("secret.jpg"))
            #expect(text(await ask(source(store) { $0.showsInputs = true }, question)).contains("secret.jpg"))
            #expect(!text(await ask(source(store), .operations(OperationSearch()))).contains("secret.jpg"))
        }
    }

    @Test func `a failed operation has its attempts, and is retried, moved and cancelled if the program permits it`()
        async throws
    {
        try await withStore { store in
            let photos = DurableQueue("photos", in: store)
            let broken = try await photos.add(Resize(photo: "broken.jpg"))
            let worker = try DurableWorker(store, queues: ["photos": .limit(1)], operations: [Resize.self])
            let running = Task { try await worker.run() }
            #expect(try await broken.outcome == .failed)
            worker.stop()
            try await running.value
            let id = broken.id.rawValue
            #expect(await ask(source(store), .steer(.retry([id]))) == .failure(.forbidden))
            let source = source(store) { $0.permitsSteering = true }
            let detail = text(await ask(source, .operation(id)))
            #expect(detail.contains("the photo is unreadable") && detail.contains(#""outcome":"failed""#))
            #expect(text(await ask(source, .timeline(seconds: 600))).contains(#""name":"resize","state":"failed""#))
            #expect(text(await ask(source, .steer(.retry([id])))) == #"{"changed":1}"#)
            #expect(text(await ask(source, .steer(.move([id], queue: "slow")))) == #"{"changed":1}"#)
            #expect(try await store.record(of: broken.id).queue == "slow")
            #expect(text(await ask(source, .steer(.suspend(queue: "slow")))) == #"{"changed":1}"#)
            #expect(text(await ask(source, .overview)).contains(#""name":"slow","suspended":true"#))
            #expect(text(await ask(source, .steer(.cancel([id])))) == #"{"changed":1}"#)
            #expect(try await store.record(of: broken.id).state == .cancelled)
        }
    }
}
#endif
