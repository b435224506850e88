#if Networking
import HTTPCaching
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Step 2 of 5: what is on disk.
extension ImagePipeline {
    func begin(_ variant: Int, _ key: ImageBoard.VariantKey, _ priority: Operation.QueuePriority) {
        guard let cache = configuration.cache, key.original.policy.readsDisk || key.original.policy.refreshes else {
            return makeWithoutDisk(variant)
        }
        let lookup = TaskOperation { await self.seek(variant, key, in: cache) }
        lookup.queuePriority = priority
        // What has just been loaded would be loaded again, if it were looked for before it is there.
        if let writing = state.withLock({ $0.writing[key.original.name]?.operation }) { lookup.addDependency(writing) }
        if keep(lookup, for: variant) { lookups.addOperation(lookup) }
    }

    /// False: nobody wants the variant any longer.
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

    /// What a thumbnail is called on disk; nil for what is not kept there.
    func variantName(_ decoding: ImageDecodingOptions) -> String? {
        guard let size = decoding.maxPixelSize, configuration.decryptor == nil else { return nil }
        return switch decoding.frames {
        case .first: "thumbnail \(size)"
        case .all(let limit): "thumbnail \(size), \(limit) frames"
        }
    }

    /// The file in what was loaded or kept.
    func opened(_ data: Data) throws -> [UInt8] {
        guard let decryptor = configuration.decryptor else { return [UInt8](data) }
        return [UInt8](try decryptor(data))
    }
}

/// What is on disk, of which the server may say that it still holds.
struct StaleOriginal: Sendable {
    let file: Original
    let validators: Validators
}

/// What tells one state of a resource from another: its tag, its date.
struct Validators: Sendable, Hashable {
    static let variant = "validators"

    let eTag: String
    let lastModified: String

    /// Nil if there are none.
    init?(_ response: HTTPResponse) {
        eTag = response.headerFields[.eTag] ?? ""
        lastModified = response.headerFields[.lastModified] ?? ""
        if eTag.isEmpty, lastModified.isEmpty { return nil }
    }

    /// As `data` says.
    init?(_ data: Data) {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 2 else { return nil }
        (eTag, lastModified) = (String(lines[0]), String(lines[1]))
    }

    var data: Data { Data("\(eTag)\n\(lastModified)".utf8) }

    /// Of a request that asks whether they still hold.
    var conditions: HTTPFields {
        var fields = HTTPFields()
        if !eTag.isEmpty { fields[.ifNoneMatch] = eTag }
        if !lastModified.isEmpty { fields[.ifModifiedSince] = lastModified }
        return fields
    }
}
#endif
