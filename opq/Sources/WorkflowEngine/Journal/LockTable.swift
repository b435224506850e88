import Glibc

/// The table of the locks that processes hold on files.
///
/// To try a lock would be shorter, but a run that starts at this moment would fail to get it.
struct LockTable {
    /// The text of `/proc/locks`. A line has the kind of a lock, the process, and the device and the number of the file.
    let text: String

    /// The present table. Empty where the system has none.
    static var present: LockTable {
        guard let stream = fopen("/proc/locks", "re") else { return LockTable(text: "") }
        defer { fclose(stream) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&chunk, 1, chunk.count, stream), count > 0 { text += chunk[..<count] }
        return LockTable(text: String(decoding: text, as: UTF8.self))
    }

    /// Whether a process holds a lock by `flock` on a file.
    func has(process: pid_t, file: ino_t) -> Bool {
        text.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 5 && words[1] == "FLOCK" && words[4] == "\(process)"
                && words[5].split(separator: ":").last == "\(file)"
        }
    }
}

extension RunStore {
    /// Whether a process runs a workflow file now.
    static func isRunning(_ workflow: String) -> Bool {
        let file = (folder(of: workflow) + "/lock").withFileName { open($0, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        guard let owner = owner(of: file), fstat(file, &status) == 0 else { return false }
        return LockTable.present.has(process: owner, file: status.st_ino)
    }

    /// Returns the process that wrote its identifier into the file of a lock.
    static func owner(of file: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = max(pread(file, &bytes, bytes.count, 0), 0)
        return pid_t(String(decoding: bytes.prefix(count).prefix { $0 > 32 }, as: UTF8.self))
    }
}
