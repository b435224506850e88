import HTTPCaching
import HTTPTypes
import Operations
import OperationsNetworking

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Step 2 of 5: the disk.
extension ImagePipeline {
    func begin(_ variant: Int, _ key: ImageBoard.VariantKey, _ priority: Operation.QueuePriority) {
        guard let cache = configuration.cache, key.original.policy.readsDisk || key.original.policy.refreshes else {
            return makeWithoutDisk(variant)
        }
        let lookup = TaskOperation { await self.seek(variant, key, in: cache) }
        lookup.queuePriority = priority
        // Without the dependency the lookup could miss an image that is being written, and the loader would load the
        // image again.
        if let writing = state.withLock({ $0.writing[key.original.name]?.operation }) { lookup.addDependency(writing) }
        if keep(lookup, for: variant) { lookups.addOperation(lookup) }
    }

    /// Registers the operation of a variant. Returns false if the variant has no waiter any more.
    func keep(_ operation: Operation, for variant: Int) -> Bool {
        let (isWanted, old) = state.withLock { state -> (Bool, Operation?) in
            guard state.board.key(ofVariant: variant) != nil else { return (false, nil) }
            return (true, state.operations.updateValue(operation, forKey: variant))
        }
        withExtendedLifetime(old) {}
        return isWanted
    }

    private func makeWithoutDisk(_ variant: Int) {
        switch state.withLock({ $0.board.needsOriginal(variant) }) {
        case .seek(let original), .load(let original): isAbsent(original)
        case .decode(let original): decode(variant, of: original)
        case .gone, .waits: break
        }
    }

    private func seek(_ variant: Int, _ key: ImageBoard.VariantKey, in cache: HTTPCache) async {
        let name = key.original.name
        if !key.original.policy.refreshes, let variantName = variantName(key.decoding),
            let data = await cache.data(forKey: name, variant: variantName), let stored = StoredImage(data)
        {
            return end(variant, with: stored.image, from: nil)
        }
        switch state.withLock({ $0.board.needsOriginal(variant) }) {
        case .seek(let original), .load(let original): await seek(original: original, key.original, in: cache)
        case .decode(let original): decode(variant, of: original)
        case .gone, .waits: break
        }
    }

    private func seek(original: Int, _ key: ImageBoard.OriginalKey, in cache: HTTPCache) async {
        guard let data = await cache.data(forKey: key.name), !data.isEmpty, let stored = try? opened(data) else {
            return isAbsent(original)
        }
        let file = Original(bytes: stored, .init(encrypted: nil, response: nil, source: .disk, isStored: true))
        guard key.policy.refreshes else { return isPresent(original, file) }
        let validators = await cache.data(forKey: key.name, variant: Validators.variant).flatMap { Validators($0) }
        isAbsent(original, stale: validators.map { StaleOriginal(file: file, validators: $0) })
    }

    /// Returns the name of a thumbnail on disk, or nil for an image that is not stored there.
    func variantName(_ decoding: ImageDecodingOptions) -> String? {
        guard let size = decoding.maxPixelSize, configuration.decryptor == nil else { return nil }
        return switch decoding.frames {
        case .first: "thumbnail \(size)"
        case .all(let limit): "thumbnail \(size), \(limit) frames"
        }
    }

    /// Decrypts data if necessary, and returns the bytes of the file.
    func opened(_ data: Data) throws -> [UInt8] {
        guard let decryptor = configuration.decryptor else { return [UInt8](data) }
        return [UInt8](try decryptor(data))
    }
}

/// A file on disk that the server can confirm.
struct StaleOriginal: Sendable {
    let file: Original
    let validators: Validators
}

/// The validators of a resource: the entity tag and the modification date.
struct Validators: Sendable, Hashable {
    static let variant = "validators"

    let eTag: String
    let lastModified: String

    /// Returns nil if the response has no validators.
    init?(_ response: HTTPResponse) {
        eTag = response.headerFields[.eTag] ?? ""
        lastModified = response.headerFields[.lastModified] ?? ""
        if eTag.isEmpty, lastModified.isEmpty { return nil }
    }

    /// Parses the format of `data`.
    init?(_ data: Data) {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 2 else { return nil }
        (eTag, lastModified) = (String(lines[0]), String(lines[1]))
    }

    var data: Data { Data("\(eTag)\n\(lastModified)".utf8) }

    /// The conditions of a request that revalidates the file.
    var conditions: HTTPFields {
        var fields = HTTPFields()
        if !eTag.isEmpty { fields[.ifNoneMatch] = eTag }
        if !lastModified.isEmpty { fields[.ifModifiedSince] = lastModified }
        return fields
    }
}
