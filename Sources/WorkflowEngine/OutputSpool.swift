import Glibc
import SystemPackage

/// What an operation printed, until it is its turn to be shown.
///
/// The command writes into the spool itself, with both its standard output and its standard error, so their
/// order is that of a terminal. The spool is a file without a name in the directory for temporary files:
/// whatever a command prints takes no memory here, it is bounded by the space there, and it is gone with
/// the process.
public final class OutputSpool: Sendable {
    /// Where the command writes to.
    let file: FileDescriptor

    /// Opens an empty spool.
    ///
    /// - Throws: `Errno` if the directory for temporary files takes no file.
    init() throws {
        let directory = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let path = FilePath(directory).appending("opq-\(UInt64.random(in: .min ... .max))")
        // Appending, each process writes behind what the others have written, whatever it was before.
        file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .append, .closeOnExec],
            permissions: .ownerReadWrite)
        unlink(path.string)
    }

    deinit {
        try? file.close()
    }

    /// Hands over what was printed, from the start, in chunks of at most 64 KiB.
    public func read(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var offset: Int64 = 0
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
            while true {
                let count = try file.read(fromAbsoluteOffset: offset, into: chunk)
                if count == 0 { return }
                offset += Int64(count)
                try body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
    }
}
