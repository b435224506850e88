import HTTPCaching
import HTTPCore
import HTTPTypes
import Operations
import OperationsNetworking

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Storage in memory and on disk.
extension ImagePipeline {
    /// Returns the write of an image and, for the first image, of its original, with the bytes that the write keeps in
    /// memory. Returns nil if there is nothing to write.
    func storing(
        _ image: DecodedImage, of file: Original, _ key: ImageBoard.VariantKey, isFirst: Bool
    ) -> (byteCount: Int, body: @Sendable (HTTPCache) async -> Void)? {
        guard key.original.policy.writesDisk else { return nil }
        let (name, retention) = (key.original.name, key.original.request.cachePolicy.retention)
        // The write keeps only these in memory.
        let original = isFirst && !file.kept.isStored ? file : nil
        let variant = image.byteCount <= configuration.storedVariantLimit ? variantName(key.decoding) : nil
        let thumbnail = variant.map { (variant: $0, image: image) }
        guard original != nil || thumbnail != nil else { return nil }
        let body: @Sendable (HTTPCache) async -> Void = { cache in
            if let original {
                // The stored variants belong to the previous original.
                await cache.removeData(forKey: name)
                let data = original.kept.encrypted ?? Data(original.bytes)
                await cache.store(data, forKey: name, retention: retention)
                if let validators = original.kept.response.flatMap({ Validators($0) }) {
                    await cache.store(
                        validators.data, forKey: name, variant: Validators.variant, retention: retention)
                }
            }
            if let (variant, image) = thumbnail {
                await cache.store(StoredImage(image).data, forKey: name, variant: variant, retention: retention)
            }
        }
        return ((original?.byteCount ?? 0) + (thumbnail?.image.byteCount ?? 0), body)
    }

    /// A registered write, which must be passed to `enqueue`.
    struct Writing {
        let operation: TaskOperation<Void>
        /// Whether the write made the backlog full.
        let fillsBacklog: Bool
        /// The previous write of the name.
        let previous: Operation?
    }

    /// Registers a write to the cache, if there is one. Later lookups of the name wait for the write, and later writes of the
    /// name follow it.
    func register(
        in state: inout State, _ name: String, byteCount: Int = 0,
        _ body: @escaping @Sendable (HTTPCache) async -> Void
    ) -> Writing? {
        guard let cache = configuration.cache else { return nil }
        state.lastWriting += 1
        let number = state.lastWriting
        let operation = TaskOperation {
            await body(cache)
            let old = self.state.withLock { state in
                state.writing[name]?.number == number ? state.writing.removeValue(forKey: name) : nil
            }
            withExtendedLifetime(old) {}
            self.addToBacklog(-byteCount)
        }
        let previous = state.writing.updateValue((number, operation), forKey: name)
        let fillsBacklog = state.backlog.add(byteCount)
        return Writing(operation: operation, fillsBacklog: fillsBacklog, previous: previous?.operation)
    }

    /// A failure of the cache does not affect the request, and the request does not wait for the write.
    func enqueue(_ writing: Writing) {
        if writing.fillsBacklog { applySuspension() }
        // Two threads can enqueue the writes of a name in another order than they registered them.
        if let previous = writing.previous { writing.operation.addDependency(previous) }
        writes.addOperation(writing.operation)
    }

    func clearMemory() {
        let gone = state.withLock { $0.memory.removeAll() }
        withExtendedLifetime(gone) {}
    }

    func clearFailureCache() {
        let gone = state.withLock { $0.failures.forgetAll() }
        withExtendedLifetime(gone) {}
    }

    /// Returns the name of an image in memory and on disk. The name contains a digest of the credentials in place of
    /// the credentials. The disk therefore contains no credentials, and each user has separate images.
    func name(of url: String, _ options: ImageLoadOptions) -> String {
        let (key, request) = (configuration.cacheKey(url), options.request)
        let address = HTTPAddress(key)
        let user = UserIdentity(
            address?.credential, fields: request.fields, credentialFields: request.redirects.credentialFields)
        guard let digest = user.digest else { return key }
        return "\(address?.credential == nil ? key : address?.description ?? key) for \(digest)"
    }

    func remove(_ url: String, _ options: ImageLoadOptions) async {
        let name = name(of: url, options)
        let (gone, writing) = state.withLock { state in
            (state.memory.remove(name), register(in: &state, name) { await $0.removeData(forKey: name) })
        }
        withExtendedLifetime(gone) {}
        guard let writing else { return }
        enqueue(writing)
        _ = await writing.operation.result
    }
}
