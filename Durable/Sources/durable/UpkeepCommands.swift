import ArgumentParser
import Dispatch
import DurableTool
import Foundation
import OperationsDurable

struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rebuild the file of SQLite, which gives the space of removed operations back.",
        discussion: "Workers that write wait meanwhile. PostgreSQL compacts by autovacuum.")

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try await store.withFile("PostgreSQL compacts its tables itself", "see autovacuum and VACUUM") { file, output in
            try await untilInterrupted { try await file.compact() }
            try output.line(store.json ? JSONText.members(["compacted": .boolean(true)]).line : "compacted the file")
        }
    }
}

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the file of SQLite, as it is at one moment, while workers run.",
        discussion: "For PostgreSQL, use pg_dump.")

    @OptionGroup var store: StoreOptions

    @Argument(help: "The path of the copy, which must not exist.", completion: .file()) var path: String

    func run() async throws {
        try await store.withFile("PostgreSQL has its own tools for copies", "use pg_dump") { file, output in
            let path = path
            try await untilInterrupted { try await file.backUp(to: path) }
            try output.line(
                store.json
                    ? JSONText.members(["path": .text(path)]).line : "copied the store to \(CellText(path).text)")
        }
    }
}

extension StoreOptions {
    /// Opens a store in SQLite, and calls the body.
    ///
    /// - Parameters:
    ///   - reason: The reason why a store in PostgreSQL is refused.
    ///   - remedy: The counterpart in PostgreSQL.
    fileprivate func withFile(
        _ reason: String, _ remedy: String, _ body: (SQLiteStore, Output) async throws -> Void
    ) async throws {
        try await withStore { store, output in
            guard let file = store as? SQLiteStore else { throw Failure(.refused, reason, remedy: remedy) }
            try await body(file, output)
            return .done
        }
    }
}

/// Calls the body. SIGINT and SIGTERM cancel it, so that it removes its files, and then end the process.
private func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { @Sendable in task.cancel() }
        source.resume()
        return (number, source)
    }
    let result = await task.result
    for (number, source) in sources {
        source.cancel()
        signal(number, SIG_DFL)
    }
    if task.isCancelled {
        kill(getpid(), SIGINT)
        // The signal may arrive at another thread a moment later.
        sleep(1)
    }
    try result.get()
}
