import Foundation
import OperationsDurable
import OperationsDurablePostgres

// The worker of the session with `durable`, which `Tests/durable-session.sh` starts. The arguments are a word and a store:
//
// - `fill` creates a store with operations that will fail, end their process, and never run.
// - `names` adds operations with hostile names.
// - `many` adds as many operations as the third argument says.
// - `work` runs operations until the standard input ends. With the third argument `repaired`, none fails.

struct Letter: DurableOperation {
    static let name = "letter"
    var to: String

    func run(_ context: DurableContext) async throws -> String {
        guard isRepaired else { throw ServerAway() }
        return "sent to \(to)"
    }
}

struct ServerAway: Error, CustomStringConvertible {
    var description: String { "the mail server is away" }
}

/// Ends its process, unless the program is repaired.
struct Thumbnail: DurableOperation {
    static let name = "thumbnail"
    var photo: String

    func run(_ context: DurableContext) async throws {
        if !isRepaired { kill(getpid(), SIGKILL) }
    }
}

/// An operation that no worker of the session registers.
struct Fax: DurableOperation {
    static let name = "fax"
    func run(_ context: DurableContext) async throws {}
}

struct Report: DurableOperation {
    static let name = "report"
    func run(_ context: DurableContext) async throws {}
}

struct Hostile: DurableOperation {
    static let name = "--\u{1B}[31m\u{202E}evil\t\u{200B}|\"'\\ 名前"
    var text: String
    func run(_ context: DurableContext) async throws {}
}

let arguments = CommandLine.arguments
let isRepaired = arguments.count > 3 && arguments[3] == "repaired"

func open(_ address: String) async throws -> any DurableStore {
    #if Postgres
    if address.hasPrefix("postgresql://") { return try await PostgresStore(address) }
    #endif
    var configuration = SQLiteStore.Configuration()
    configuration.synchronous = .normal
    configuration.limits.nameBytes = 12 << 20
    return try await SQLiteStore(path: address, configuration: configuration)
}

guard arguments.count > 2 else {
    print("usage: DurableSessionWorker fill|names|many|work STORE [ARGUMENT]")
    exit(2)
}
let store = try await open(arguments[2])
let mail = DurableQueue("mail", in: store)
let photos = DurableQueue("photos", in: store)
switch arguments[1] {
case "fill":
    try await mail.add(contentsOf: [Letter(to: "ada"), Letter(to: "ben")])
    try await photos.add(Thumbnail(photo: "a.jpg"))
    let fax = try await mail.add(Fax())
    try await mail.add(Letter(to: "cat"), after: [fax])
    try await mail.add(Report(), options: DurableOptions(delay: .seconds(86_400)))
    try await store.schedule("nightly", CronSchedule("0 3 * * *"), Report(), in: mail)
case "names":
    for name in [
        "--\u{1B}]0;title\u{07}", "\u{202E}\u{200F}مرحبا", "e\(String(repeating: "\u{301}", count: 90))", "名前",
    ] {
        try await DurableQueue(name, in: store).add(
            Hostile(text: "\u{1B}[2J\u{202E}"), options: DurableOptions(limitKey: name))
    }
    // SQLite alone has the limit that permits this.
    if store is SQLiteStore {
        let long = String(repeating: "x", count: 10 << 20)
        try await DurableQueue(long, in: store).add(Report(), options: DurableOptions(limitKey: long))
    }
case "many":
    let count = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
    for start in stride(from: 0, to: count, by: 5_000) {
        try await mail.add(contentsOf: (start..<min(count, start + 5_000)).map { Letter(to: "\($0)") })
    }
case "work":
    var configuration = DurableWorker.Configuration()
    (configuration.lease, configuration.name) = (.milliseconds(800), "session")
    let worker = try DurableWorker(
        store, queues: ["mail": .limit(2), "photos": .limit(1), "archive": .limit(1)],
        operations: [Letter.self, Thumbnail.self, Report.self], configuration: configuration)
    Thread.detachNewThread {
        while let data = try? FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
        worker.stop()
    }
    try await worker.run()
default: exit(2)
}
