import DurableCore
import Foundation
import GRDB

extension DurableError {
    /// Returns an error of the database as `unavailable`. Returns other errors unchanged.
    static func wrapping(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        // The message of SQLite names no values. The description of GRDB may contain parameters.
        return DurableError.unavailable("SQLite error \(error.extendedResultCode.rawValue): \(error.message ?? "")")
    }

    /// Returns an error of the application's statements: `unavailable` if the file cannot be read or written, or stays locked.
    /// Returns other errors unchanged. A repetition of the statements would find them again.
    static func wrapping(statements error: any Error) -> any Error {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_BUSY?, .SQLITE_IOERR?, .SQLITE_FULL?, .SQLITE_CANTOPEN?: wrapping(error)
        default: error
        }
    }

    /// Creates the error of a database that cannot be opened.
    init(database error: any Error, path: String) {
        switch error {
        case let error as DurableError: self = error
        case let error as DatabaseError where error.resultCode == .SQLITE_READONLY:
            self = .unavailable("the file '\(path)' is read-only")
        case let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN:
            self = .unavailable("the file '\(path)' cannot be opened; check that its directory exists and is writable")
        case let error as DatabaseError where error.resultCode == .SQLITE_NOTADB:
            self = .unavailable("the file '\(path)' is not a database")
        case let error as DatabaseError:
            self = .unavailable("the file '\(path)': \(error.message ?? "SQLite error \(error.resultCode.rawValue)")")
        default: self = .unavailable("the file '\(path)': \(error)")
        }
    }
}

extension DurableInstant {
    /// The current instant of the machine's clock.
    package static var systemNow: DurableInstant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return DurableInstant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}
