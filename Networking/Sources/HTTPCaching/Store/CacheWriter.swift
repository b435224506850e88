import Crypto
package import Foundation
import HTTPCore

/// A writer that receives the body of a response in pieces, and stores the complete body. The writer reports failures
/// to the cache's `onError`. A failure does not affect the request.
///
/// Without a call of `finish()` the writer stores nothing.
package actor CacheWriter {
    private let executor: DiskExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: CacheStore
    private let shelf: CacheStore.Shelf
    private let key: String
    private let variant: String
    private let response: StoredResponse
    private let expectedLength: Int64?
    private let ticket: CacheTicket

    /// The bytes that are not in the file. The writer creates the file when the buffer exceeds the size for bodies in
    /// memory.
    private var buffer = Data()
    private var file: TemporaryFile?
    private var digest = SHA256()
    private var count: Int64 = 0
    private var isOver = false

    init(
        _ response: StoredResponse, key: String, variant: String, expectedLength: Int64?, in shelf: CacheStore.Shelf,
        of store: CacheStore, since ticket: CacheTicket, on executor: DiskExecutor
    ) {
        (self.response, self.key, self.variant) = (response, key, variant)
        (self.expectedLength, self.shelf, self.store, self.executor) = (expectedLength, shelf, store, executor)
        self.ticket = ticket
    }

    /// Adds bytes. Returns whether the writer still intends to store the response.
    @discardableResult
    package func write(_ bytes: some Collection<UInt8> & Sendable) -> Bool {
        append(bytes)
        return !isOver
    }

    private func append(_ bytes: some Collection<UInt8>) {
        guard !isOver else { return }
        let start = buffer.count
        buffer.append(contentsOf: bytes)
        digest.update(data: buffer.suffix(from: buffer.startIndex + start))
        count += Int64(buffer.count - start)
        guard count <= expectedLength ?? .max, count <= store.limit(shelf) else { return abandon() }
        guard shelf == .permanent, buffer.count > CacheStore.smallBody else { return }
        do { try spill() } catch {
            store.report(error as? HTTPCacheError ?? .index(path: "", error))
            abandon()
        }
    }

    private func spill() throws {
        guard let files = store.files else { return }
        if file == nil {
            file = try files.newTemporaryFile()
            try store.step(.temporaryFileMade)
        }
        try file?.write(buffer)
        try store.step(.bodyWritten)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Completes the body. Returns whether the cache has stored the response. The result is false if the length differs
    /// from the announced length, or if the address was invalidated after the request.
    @discardableResult
    package func finish(now: Date = Date()) async -> Bool {
        guard !isOver, count == expectedLength ?? count else {
            abandon()
            return false
        }
        isOver = true
        do {
            if file != nil { try spill() }
            let entry = try CacheEntry(
                response: response, key: key, variant: variant, digest: digest.finalize().hexadecimal(), size: count,
                now: now)
            let body = file.map { FinishedBody.file($0) } ?? .memory(buffer)
            (file, buffer) = (nil, Data())
            return await store.commit(entry, body, in: shelf, since: ticket, now: now)
        } catch {
            store.report(error as? HTTPCacheError ?? .index(path: key, error))
            (file, buffer) = (nil, Data())
            return false
        }
    }

    /// Discards the body.
    package func abandon() {
        isOver = true
        (file, buffer) = (nil, Data())
    }
}
