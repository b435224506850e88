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
        try await store.withStore { store, output in
            guard let file = store as? SQLiteStore else {
                throw Failure(.refused, "PostgreSQL compacts its tables itself", remedy: "see autovacuum and VACUUM")
            }
            try await untilInterrupted { try await file.compact() }
            try output.line(
                self.store.json ? JSONText.members(["compacted": .boolean(true)]).line : "compacted the file")
            return .done
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
        try await store.withStore { store, output in
            guard let file = store as? SQLiteStore else {
                throw Failure(.refused, "PostgreSQL has its own tools for copies", remedy: "use pg_dump")
            }
            let path = path
            try await untilInterrupted { try await file.backUp(to: path) }
            if self.store.json {
                try output.line(JSONText.members(["path": .text(path)]).line)
            } else {
                try output.line("copied the store to \(CellText(path).text)")
            }
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
