import CProcess
import Glibc

/// The processes of the system at one moment, as `/proc` shows them.
struct ProcessTable {
    /// A process.
    struct Entry: Equatable {
        let identifier, parent, group, session: pid_t
        /// Whether the process has ended and is not reaped.
        let isDead: Bool

        /// Creates an entry from the content of `/proc/ID/stat`. `nil` if the text has another form.
        init?(_ text: String) {
            // The fields after the command's name are state, parent, group and session. The name may contain any character.
            guard let identifier = text.split(separator: " ", maxSplits: 1).first.flatMap({ pid_t($0) }),
                let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 3,
                let parent = pid_t(fields[1]), let group = pid_t(fields[2]), let session = pid_t(fields[3])
            else { return nil }
            (self.identifier, self.parent, self.group, self.session) = (identifier, parent, group, session)
            isDead = fields[0] == "Z" || fields[0] == "X"
        }

        fileprivate init?(reading identifier: String) throws {
            guard let text = try Self.text(of: identifier) else { return nil }
            self.init(text)
        }

        fileprivate static func text(of identifier: String) throws -> String? {
            let file = open("/proc/\(identifier)/stat", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                // An ended process has no file.
                if errno == EMFILE || errno == ENFILE { throw Unreadable() }
                return nil
            }
            defer { close(file) }
            let line = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
                count = max(Glibc.read(file, buffer.baseAddress, buffer.count), 0)
            }
            return String(decoding: line, as: UTF8.self)
        }
    }

    private struct Unreadable: Error {}

    /// Returns a process and its start, in ticks since the start of the system. `nil` if there is no such process.
    static func process(_ identifier: pid_t) -> (entry: Entry, start: Int64)? {
        guard let text = try? Entry.text(of: String(identifier)), let entry = Entry(text),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 19,
            let start = Int64(fields[19])
        else { return nil }
        return (entry, start)
    }

    /// The processes.
    let entries: [Entry]
    /// Whether processes may be missing, because the system could not show them.
    let isIncomplete: Bool

    /// Creates a table with the given processes.
    init(entries: [Entry], isIncomplete: Bool = false) { (self.entries, self.isIncomplete) = (entries, isIncomplete) }

    /// Reads the current processes. O(processes of the system).
    init() {
        guard let directory = opendir("/proc") else {
            self.init(entries: [], isIncomplete: true)
            return
        }
        defer { closedir(directory) }
        var entries: [Entry] = []
        do {
            while let entry = readdir(directory) {
                let name = entry.pointee.fileName
                guard let first = name.utf8.first, (0x30...0x39).contains(first) else { continue }
                if let entry = try Entry(reading: name) { entries.append(entry) }
            }
            self.init(entries: entries)
        } catch {
            self.init(entries: entries, isIncomplete: true)
        }
    }

    /// Returns the living processes that belong to a command: those of its group, and if wanted those of its session.
    func members(of leader: pid_t, inSession: Bool) -> [Entry] {
        entries.filter { !$0.isDead && ($0.group == leader || inSession && $0.session == leader) }
    }

    /// Returns the living children of a process, except those with the given identifiers.
    func children(of parent: pid_t, except known: Set<pid_t>) -> [Entry] {
        entries.filter { !$0.isDead && $0.parent == parent && !known.contains($0.identifier) }
    }

    /// Sends a signal to a process of the table, if the process is still the same.
    ///
    /// A descriptor refers to one process. So an identifier that the system has reused in the meantime is noticed.
    static func send(_ signal: Int32, to entry: Entry) {
        let descriptor = cprocess_open(entry.identifier)
        guard descriptor >= 0 else {
            // Systems before Linux 5.3 have no such descriptors.
            if errno == ENOSYS { Glibc.kill(entry.identifier, signal) }
            return
        }
        defer { close(descriptor) }
        guard let current = try? Entry(reading: String(entry.identifier)), current.session == entry.session,
            current.group == entry.group
        else { return }
        _ = cprocess_signal(descriptor, signal)
    }
}
