import DurableCore
import Foundation

/// The ends of leases, in a file beside the database.
///
/// SQLite has one writer at a time. A heartbeat in the database would wait for a transaction of the application, however long, and
/// the worker would lose its leases. A lock of the process in place of a heartbeat would outlive a frozen process. The file is an
/// addition: without it, the ends of leases in the database count.
struct LeaseFile: Sendable {
    private let path: String
    /// The beginning of the file, which distinguishes it from the file of an earlier database with this path.
    private let header: [UInt8]

    /// The permissions of the database, which the file gets as well.
    private let mode: mode_t

    init(database path: String, identity: String) {
        (self.path, header) = (path + "-leases", Array("durable \(identity)\n".utf8))
        var status = stat()
        mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o644
    }

    /// The place of the end of a worker. Each worker has its own, so that writers need no lock.
    private func offset(of worker: WorkerID) -> off_t { off_t(header.count) + off_t(worker.rawValue) * 8 }

    /// Stores the end of the worker's leases. Does nothing if the file cannot be written.
    func renew(_ worker: WorkerID, until end: DurableInstant) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        guard file >= 0 else { return }
        defer { close(file) }
        if !hasHeader(file) {
            // The permissions of `open` depend on the mask of the process.
            guard fchmod(file, mode) == 0, ftruncate(file, 0) == 0,
                pwrite(file, header, header.count, 0) == header.count
            else { return }
        }
        _ = withUnsafeBytes(of: end.microseconds.littleEndian) { pwrite(file, $0.baseAddress, 8, offset(of: worker)) }
    }

    /// Returns the stored end of the worker's leases.
    func end(of worker: WorkerID) -> DurableInstant? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var end: Int64 = 0
        guard hasHeader(file),
            withUnsafeMutableBytes(of: &end, { pread(file, $0.baseAddress, 8, offset(of: worker)) }) == 8
        else { return nil }
        return DurableInstant(microseconds: Int64(littleEndian: end))
    }

    private func hasHeader(_ file: Int32) -> Bool {
        var found = [UInt8](repeating: 0, count: header.count)
        return pread(file, &found, found.count, 0) == found.count && found == header
    }
}
