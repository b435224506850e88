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
    /// Stores an image and its original on disk. A failure of the cache does not affect the request, and the request
    /// does not wait for the write.
    func store(_ image: DecodedImage, of file: Original, _ key: ImageBoard.VariantKey, isFirst: Bool) {
        guard key.original.policy.writesDisk else { return }
        let (name, retention) = (key.original.name, key.original.request.cachePolicy.retention)
        if !file.kept.isStored, isFirst {
            let validators = file.kept.response.flatMap { Validators($0) }
            write(name) { cache in
                // The stored variants belong to the previous original.
                await cache.removeData(forKey: name)
                await cache.store(file.kept.encrypted ?? Data(file.bytes), forKey: name, retention: retention)
                guard let validators else { return }
                await cache.store(
                    validators.data, forKey: name, variant: Validators.variant, retention: retention)
            }
        }
        guard let variant = variantName(key.decoding), image.byteCount <= configuration.storedVariantLimit else {
            return
        }
        write(name) { cache in
            await cache.store(StoredImage(image).data, forKey: name, variant: variant, retention: retention)
        }
    }

    /// Enqueues a write to the cache, if there is one. Lookups of the name wait for the write.
    @discardableResult func write(
        _ name: String, _ body: @escaping @Sendable (HTTPCache) async -> Void
    ) -> TaskOperation<Void>? {
        guard let cache = configuration.cache else { return nil }
        let number = state.withLock { state in
            state.lastWriting += 1
            return state.lastWriting
        }
        let writing = TaskOperation {
            await body(cache)
            let old = self.state.withLock { state in
                state.writing[name]?.number == number ? state.writing.removeValue(forKey: name) : nil
            }
            withExtendedLifetime(old) {}
        }
        let old = state.withLock { $0.writing.updateValue((number, writing), forKey: name) }
        withExtendedLifetime(old) {}
        writes.addOperation(writing)
        return writing
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
        let gone = state.withLock { $0.memory.remove(name) }
        withExtendedLifetime(gone) {}
        _ = await write(name) { await $0.removeData(forKey: name) }?.result
    }
}
