#if Networking
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

// What is kept, in memory and on disk.
extension ImagePipeline {
    /// A full disk, or a cache that fails, loses nobody's image: who waits does not wait for this.
    func store(_ image: DecodedImage, of file: Original, _ key: ImageBoard.VariantKey, isFirst: Bool) {
        guard key.original.policy.writesDisk else { return }
        let (name, retention) = (key.original.name, key.original.request.cachePolicy.retention)
        if !file.kept.isStored, isFirst {
            let validators = file.kept.response.flatMap { Validators($0) }
            write(name) { cache in
                // With its variants: those that are there are of its predecessor.
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

    /// Has the cache written to, if there is one. Lookups of the name wait for it.
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

    func forgetFailures() {
        let gone = state.withLock { $0.failures.forgetAll() }
        withExtendedLifetime(gone) {}
    }

    /// The name of an image in memory and on disk. In place of credentials it has their digest: so the disk holds no
    /// credentials, and each user has separate images.
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
        let gone = state.withLock { $0.memory.removeAll { $0.name == name } }
        withExtendedLifetime(gone) {}
        _ = await write(name) { await $0.removeData(forKey: name) }?.result
    }
}
#endif
