import DurableCore
import Foundation
import GRDB

extension SQLiteStore {
    /// Rebuilds the file, which gives the space of removed operations back to the file system.
    ///
    /// Writers of all processes wait meanwhile, and throw `DurableError.unavailable` after their `busyTimeout`. Readers and running
    /// operations continue, and workers keep their leases. The file needs free space of twice its size. SQLite may change the row
    /// identifiers of tables of the application that have no `INTEGER PRIMARY KEY`.
    ///
    /// - Throws: `DurableError.unavailable`, for example for a full disk. The file is unchanged then.
    public func compact() async throws {
        do { try await committer.compact() } catch { throw DurableError.wrapping(error) }
    }

    /// Checks each page, row and index of the file, and changes nothing.
    ///
    /// The time grows with the size of the file. Workers continue meanwhile.
    ///
    /// - Parameter limit: The largest number of problems.
    /// - Returns: A text for each problem; nothing for a sound file.
    /// - Throws: `DurableError.unavailable` if the file cannot be read.
    public func checkFile(limit: Int = 100) async throws -> [String] {
        var configuration = GRDB.Configuration()
        configuration.label = "swift-operations-durable.check"
        configuration.readonly = true
        do {
            return try await DatabaseQueue(path: files.path, configuration: configuration).read { database in
                let found = try String.fetchAll(database, sql: "PRAGMA main.integrity_check(\(max(1, limit)))")
                return found == ["ok"] ? [] : found
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            // The damage prevents the list.
            return [error.message ?? "the file is damaged"]
        } catch { throw DurableError.wrapping(error) }
    }

    /// Writes a copy of the file, as it is at one moment, while workers run.
    ///
    /// The copy has the permissions of the file, and appears under its path when it is complete and durable. A store that opens the
    /// copy regards the operations that ran at that moment as those of workers that vanished. As for `compact()`, row identifiers of
    /// the application's tables may change.
    ///
    /// - Parameter path: The path of the copy. No file may have it, or have it with a suffix of a database such as `-wal`.
    ///   The file system must have hard links.
    /// - Throws: `DurableError.invalidValue` if a file has the path, and `DurableError.unavailable`, for example for a full disk.
    public func backUp(to path: String) async throws {
        // An old log beside the copy would become a part of it.
        for taken in ["", "-wal", "-shm", "-journal", "-leases"].map({ path + $0 })
        where SQLiteFiles.Identity(path: taken) != nil {
            throw DurableError.invalidValue("a file has the path '\(taken)'")
        }
        // The question checks that the path leads to the file that the store has opened.
        try await read { _ in }
        let partial = try CopyFile(besides: path, as: files.path)
        defer { partial.remove() }
        var configuration = GRDB.Configuration()
        configuration.label = "swift-operations-durable.copy"
        // A connection that may write would create a file in place of one that vanishes now.
        configuration.readonly = true
        do {
            try await DatabaseQueue(path: files.path, configuration: configuration).writeWithoutTransaction {
                [identity] database in
                let rows = SQLiteRows(database, now: .never, statements: SQLiteStatements())
                guard try rows.identity() == identity else {
                    throw DurableError.unavailable("the file of the database was removed or replaced")
                }
                try database.execute(sql: "VACUUM INTO ?", arguments: [partial.path])
            }
        } catch { throw DurableError.wrapping(error) }
        try partial.publish(as: path)
    }
}
