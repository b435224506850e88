import Foundation

/// The process that holds the lock of writers of a database of SQLite.
enum WriterLock {
    /// Returns a text about the holder of the lock, for example `process 12 'app'`; nil if it is unknown.
    ///
    /// Linux lists all locks. To ask the file itself would be wrong: the end of the question would release the locks of SQLite.
    static func holder(ofDatabase path: String) -> String? {
        var status = stat()
        guard stat(path + "-shm", &status) == 0 else { return nil }
        // A list that changes while it is read can lack lines.
        for _ in 0..<10 {
            if let process = holder(of: UInt64(status.st_ino)) { return name(of: process) }
        }
        return nil
    }

    private static func holder(of inode: UInt64) -> Int32? {
        for line in locks().split(separator: "\n") {
            // For example `1: POSIX ADVISORY WRITE 123 fe:00:456 120 120`. The lock of writers is the byte 120.
            let words = line.split(separator: " ")
            guard words.count >= 8, words[3] == "WRITE", let process = Int32(words[4]), let first = Int(words[6]),
                let last = Int(words[7]), (first...max(first, last)).contains(120),
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode
            else { continue }
            return process
        }
        return nil
    }

    /// Returns the list of all locks.
    ///
    /// Foundation returns the first part of the list only: it takes the first short read for the end of the file, and the system
    /// delivers at most a page at a time.
    static func locks() -> String {
        let file = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = read(file, &part, part.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += part[..<count]
        }
    }

    private static func name(of process: Int32) -> String {
        let name = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? ""
        let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? "process \(process)" : "process \(process) '\(trimmed)'"
    }
}
