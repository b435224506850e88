#if Durable
import OperationsDurable

/// A durable store with a worker, operations in several states, and a schedule.
enum Photos {
    static func open(_ path: String) async throws -> SQLiteStore {
        let store = try await SQLiteStore(path: path)
        let (photos, idle) = (DurableQueue("photos", in: store), DurableQueue("archive", in: store))
        for number in 0..<30 { try await photos.add(Resize(photo: number % 10 == 3 ? "broken" : "photo-\(number)")) }
        let first = try await idle.add(Resize(photo: "old"))
        try await idle.add(Resize(photo: "older"), after: [first])
        try await store.schedule("nightly", try CronSchedule("0 3 * * *"), Resize(photo: "all"), in: idle)
        let worker = try DurableWorker(store, queues: ["photos": .limit(2)], operations: [Resize.self])
        Task { try await worker.run() }
        return store
    }

    struct Resize: DurableOperation {
        static let name = "resize"
        var photo: String

        func run(_ context: DurableContext) async throws {
            try await Task.sleep(for: .milliseconds(200))
            if photo == "broken" { throw Unreadable() }
        }
    }

    struct Unreadable: Error, CustomStringConvertible { let description = "the photo is unreadable" }
}
#endif
