import Crypto
import Foundation
import HTTPCore

/// A complete body.
enum FinishedBody: Sendable {
    case memory(Data)
    case file(TemporaryFile)
}

extension CacheStore {
    /// Stores an entry with its body. Returns false if the entry must not be stored, or if a failure occurred, which
    /// the method reports.
    ///
    /// - Parameter ticket: The ticket of the request. Nil for data, which invalidations do not affect.
    func commit(
        _ entry: CacheEntry, _ body: FinishedBody, in shelf: Shelf, since ticket: CacheTicket? = nil, now: Date
    ) -> Bool {
        let other: Shelf = shelf == .session ? .permanent : .session
        let counterpart = use(other) { try $0.entry(entry.kind, key: entry.key, variant: entry.variant) } ?? nil
        guard entry.cost <= limit(shelf), counterpart?.isLaterResponse(than: entry) != true else { return false }
        let isStored =
            switch shelf {
            case .session: commitToSession(entry, body, ticket, now)
            case .permanent: commitToDisk(entry, body, ticket, now)
            }
        guard isStored else { return false }
        // The entry of the other part with the same key and variant is out of date.
        if counterpart != nil {
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
            return try self.enter(entry, in: &transaction, limit: self.limit(.session), now)
        } == true
    }

    /// Returns whether the index has stored the entry.
    private func enter(
        _ entry: CacheEntry, in transaction: inout CacheIndex.Transaction, limit: Int64, _ now: Date
    ) throws -> Bool {
        guard let id = try transaction.store(entry) else { return false }
        if let age = limits.age { try transaction.remove(before: now.addingTimeInterval(-age)) }
        try transaction.trim(to: limit, keeping: id)
        return true
    }

    /// Stores an entry on disk. The body gets its name before the entry exists, and both steps happen while the index
    /// is locked.
    private func commitToDisk(
        _ entry: CacheEntry, _ body: FinishedBody, _ ticket: CacheTicket?, _ now: Date
    ) -> Bool {
        guard let files else { return false }
        do {
            // The slow write happens before the index is locked.
            let early = files.has(entry.digest, size: entry.size) ? nil : try file(of: body, files)
            let isDone = change(.permanent) { transaction in
                try self.step(.transactionBegun)
                // The check is inside the transaction, because no process can invalidate a response meanwhile.
                guard try transaction.admits(entry.key, since: ticket) else { return false }
                if !files.has(entry.digest, size: entry.size) {
                    try files.adopt(early ?? self.file(of: body, files), as: entry.digest)
                }
                try self.step(.bodyRenamed)
                guard try self.enter(entry, in: &transaction, limit: self.limit(.permanent), now) else { return false }
                try self.step(.entryWritten)
                return true
            }
            guard isDone == true else {
                // The body may have its name without an entry. The file is removed, since it could otherwise fill a
                // full disk.
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

    /// Returns the body of an entry. If the body is missing or damaged, the method removes the entry and returns nil.
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
        guard SHA256.hash(data: data).hexadecimal() == entry.digest else {
            report(.damagedBody(path: file.path))
            files.remove(entry.digest)
            return nil
        }
        remember(data, as: entry.digest)
        return CachedBody(data)
    }

    // MARK: - Sweeping

    /// Removes the remains of crashes and the entries that are too old. The method locks the index once for each
    /// directory, for a short time.
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
