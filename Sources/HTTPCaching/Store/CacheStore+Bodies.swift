#if Networking
import Crypto
import Foundation

/// A body that has come whole.
enum FinishedBody: Sendable {
    case memory(Data)
    case file(TemporaryFile)
}

extension CacheStore {
    /// Stores an entry with its body; false if it could not be done, which is reported, or is not to be done.
    ///
    /// - Parameter ticket: Nil for data, which no invalidation concerns.
    func commit(
        _ entry: CacheEntry, _ body: FinishedBody, in shelf: Shelf, since ticket: CacheTicket? = nil, now: Date
    ) -> Bool {
        guard entry.cost <= limit(shelf) else { return false }
        let isStored =
            switch shelf {
            case .session: commitToSession(entry, body, ticket, now)
            case .permanent: commitToDisk(entry, body, ticket, now)
            }
        guard isStored else { return false }
        // What the other shelf has under this name is out of date.
        let other: Shelf = shelf == .session ? .permanent : .session
        if use(other, { try $0.entry(entry.kind, key: entry.key, variant: entry.variant) != nil }) == true {
            change(other) { try $0.remove(entry.kind, key: entry.key, variant: entry.variant) }
        }
        if case .memory(let data) = body, data.count <= Self.smallBody || shelf == .session {
            remember(data, as: entry.digest)
        }
        return true
    }

    private func commitToSession(
        _ entry: CacheEntry, _ body: FinishedBody, _ ticket: CacheTicket?, _ now: Date
    ) -> Bool {
        guard case .memory = body else { return false }
        return change(.session) { transaction in
            guard try transaction.admits(entry.key, since: ticket) else { return false }
            try self.enter(entry, in: &transaction, limit: self.limit(.session), now)
            return true
        } == true
    }

    private func enter(
        _ entry: CacheEntry, in transaction: inout CacheIndex.Transaction, limit: Int64, _ now: Date
    ) throws {
        let id = try transaction.store(entry)
        if let age = limits.age { try transaction.remove(before: now.addingTimeInterval(-age)) }
        try transaction.trim(to: limit, keeping: id)
    }

    /// The body has its name before the entry names it, and both happen while the index is locked.
    private func commitToDisk(
        _ entry: CacheEntry, _ body: FinishedBody, _ ticket: CacheTicket?, _ now: Date
    ) -> Bool {
        guard let files else { return false }
        do {
            // Before the lock, as it takes longest.
            let early = files.has(entry.digest, size: entry.size) ? nil : try file(of: body, files)
            let isDone = change(.permanent) { transaction in
                try self.step(.transactionBegun)
                // Only here, where no process can invalidate anything.
                guard try transaction.admits(entry.key, since: ticket) else { return false }
                if !files.has(entry.digest, size: entry.size) {
                    try files.adopt(early ?? self.file(of: body, files), as: entry.digest)
                }
                try self.step(.bodyRenamed)
                try self.enter(entry, in: &transaction, limit: self.limit(.permanent), now)
                try self.step(.entryWritten)
                return true
            }
            guard isDone == true else {
                // It may have its name and no entry: on a full disk, that is the last that should stay.
                if use(.permanent, { try $0.references(entry.digest) }) != true { files.remove(entry.digest) }
                return false
            }
            try step(.committed)
            return true
        } catch {
            report(error as? HTTPCacheError ?? .index(path: files.bodies, error))
            return false
        }
    }

    private func file(of body: FinishedBody, _ files: BodyFiles) throws -> TemporaryFile {
        switch body {
        case .file(let file): return file
        case .memory(let data):
            let file = try files.newTemporaryFile()
            try step(.temporaryFileMade)
            try file.write(data)
            try step(.bodyWritten)
            return file
        }
    }

    // MARK: - Reading

    /// The body of an entry. Nil if it is gone or not what was stored; the entry is removed then.
    func body(of entry: CacheEntry, in shelf: Shelf) -> CachedBody? {
        do {
            if let body = try readableBody(of: entry, in: shelf) { return body }
        } catch {
            report(error)
            return nil
        }
        change(shelf) { try $0.remove(entry.id) }
        return nil
    }

    private func readableBody(of entry: CacheEntry, in shelf: Shelf) throws(HTTPCacheError) -> CachedBody? {
        if let data = memory.use(entry.digest) { return CachedBody(data) }
        guard shelf == .permanent, let files, let file = try files.open(entry.digest, size: entry.size) else {
            return nil
        }
        guard entry.size <= Self.smallBody else { return CachedBody(file, size: entry.size) }
        let data = try file.read(at: 0, count: Int(entry.size))
        guard SHA256.hash(data: data).hexadecimal == entry.digest else {
            report(.damagedBody(path: file.path))
            files.remove(entry.digest)
            return nil
        }
        remember(data, as: entry.digest)
        return CachedBody(data)
    }

    // MARK: - Sweeping

    /// Removes what crashes have left, and what is too old. The index is locked for a moment for each directory.
    func sweep(unfinishedAge: Double, now: Date) async {
        guard use(.permanent, { _ in true }) == true, let files else { return }
        if let age = limits.age { change(.permanent) { try $0.remove(before: now.addingTimeInterval(-age)) } }
        files.sweepUnfinished(olderThan: unfinishedAge, now: now)
        for prefix in BodyFiles.prefixes {
            let digests = files.digests(withPrefix: prefix)
            guard !digests.isEmpty else { continue }
            change(.permanent) { transaction in
                for digest in digests where try !transaction.references(digest) { files.remove(digest) }
            }
            await Task.yield()
        }
    }
}
#endif
