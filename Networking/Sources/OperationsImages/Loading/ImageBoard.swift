import HTTPCore
import OperationsNetworking

/// The waiting requests for images, and the stage of each image. The type is a value.
///
/// An *original* is the transferred file, and a *variant* is the result of a decoder. Equal requests share a variant,
/// and variants of equal transfers share an original. Each variant and each original has the highest priority of its
/// waiters. The transfer of an original pauses when all its requests are paused.
///
///     variant    sought ──► waiting ──► decoding ──► ended
///     (on disk)    └──────────────────────┬─────────► ended
///                            ▲            │ of a damaged file on disk
///                            └────────────┘
///     original   unasked ──► sought ──► loading ──► present
///                            (on disk) └──────────────▲
///
/// When an original fails, all variants that wait for it fail. Later variants start a new transfer. The board removes
/// an original together with its last variant.
struct ImageBoard {
    struct OriginalKey: Hashable, Sendable {
        let request: HTTPRequestDescription
        /// The name of the original in the caches.
        let name: String
        let policy: ImageCachePolicy
        /// The number of changing requests of the session at the time of the call. A request does not join a transfer
        /// that began before a change.
        var changes = 0

        /// The name of the original in the failure memory.
        var failureName: String {
            let user = UserIdentity(
                nil, fields: request.fields, credentialFields: request.redirects.credentialFields)
            return request.url + (user.secret.map { " " + $0 } ?? "")
        }

        // The hash uses the address only. Few requests with the same address differ, so that a hash of all properties
        // has no advantage.
        func hash(into hasher: inout Hasher) { hasher.combine(request.url) }
    }

    struct VariantKey: Hashable, Sendable {
        let original: OriginalKey
        let decoding: ImageDecodingOptions
    }

    typealias Waiter = Int

    private struct Variant {
        enum Stage { case sought, waiting, decoding }

        let key: VariantKey
        let original: Int
        /// The variant's number among the waiters of the original.
        let waiter: Int
        var stage = Stage.sought
    }

    private struct Original {
        enum Stage { case unasked, sought, loading, present(stored: Bool) }

        let key: OriginalKey
        var stage = Stage.unasked
        var variants: Set<Int> = []
    }

    /// The requests wait for variants.
    private var requests = Coalescer<VariantKey>()
    /// The variants wait for originals.
    private var waitingVariants = Coalescer<OriginalKey>()
    private var variants: [Int: Variant] = [:]
    private var originals: [Int: Original] = [:]

    var isEmpty: Bool { variants.isEmpty }
    var variantCount: Int { variants.count }
    var originalCount: Int { originals.count }

    // MARK: - Waiters

    struct Joining: Equatable {
        let waiter: Waiter
        let variant: Int
        let original: Int
        /// Whether the variant is new, so that the caller must start to make it.
        let begins: Bool
    }

    mutating func join(_ key: VariantKey, _ demand: TransferDemand) -> Joining {
        let (waiter, joining) = requests.join(key, demand)
        switch joining {
        case .begin(let variant):
            let (ofVariant, variantJoining) = waitingVariants.join(key.original, demand)
            let original: Int
            switch variantJoining {
            case .begin(let new):
                original = new
                originals[new] = Original(key: key.original)
            case .joined(let change): original = change.transfer
            }
            variants[variant] = Variant(key: key, original: original, waiter: ofVariant)
            originals[original]?.variants.insert(variant)
            return Joining(waiter: waiter, variant: variant, original: original, begins: true)
        case .joined(let change):
            let original = apply(change)
            return Joining(waiter: waiter, variant: change.transfer, original: original, begins: false)
        }
    }

    /// Passes the demand on a variant to its original. Returns the original.
    private mutating func apply(_ change: Coalescer<VariantKey>.Change) -> Int {
        let variant = variants[change.transfer]!
        _ = waitingVariants.set(change.new, of: variant.waiter)
        return variant.original
    }

    /// The result of a waiter's departure.
    enum Leaving: Equatable {
        /// The waiter has already received its image or has already left.
        case hadLeft
        /// Other waiters remain, perhaps with a lower priority, or paused.
        case continues(variant: Int, original: Int)
        /// The variant has no waiter any more. `isLast` states whether the original is removed too.
        case stops(variant: Int, original: Int, isLast: Bool)
    }

    mutating func leave(_ waiter: Waiter) -> Leaving {
        switch requests.leave(waiter) {
        case .hadLeft: return .hadLeft
        case .continues(let change): return .continues(variant: change.transfer, original: apply(change))
        case .stop(let variant):
            let known = variants[variant]!
            return .stops(variant: variant, original: known.original, isLast: remove(variant))
        }
    }

    /// Changes the demand of a waiter. Returns nil if the waiter no longer waits.
    mutating func set(_ demand: TransferDemand, of waiter: Waiter) -> (variant: Int, original: Int)? {
        requests.set(demand, of: waiter).map { ($0.transfer, apply($0)) }
    }

    // MARK: - Questions

    func key(ofVariant variant: Int) -> VariantKey? { variants[variant]?.key }
    func key(ofOriginal original: Int) -> OriginalKey? { originals[original]?.key }
    func original(ofVariant variant: Int) -> Int? { variants[variant]?.original }
    func original(ofWaiter waiter: Waiter) -> Int? {
        requests.key(of: waiter).flatMap { requests.transfer(of: $0) }.flatMap { variants[$0]?.original }
    }
    func demand(ofVariant variant: Int) -> TransferDemand? {
        variants[variant].flatMap { requests.demand(of: $0.key) }
    }
    /// Returns the demand on the transfer of an original. The transfer pauses when all requests for its variants are paused,
    /// also while some variants are looked for on disk or decoded.
    func demand(ofOriginal original: Int) -> TransferDemand? {
        originals[original].flatMap { waitingVariants.demand(of: $0.key) }
    }

    /// Returns all waiters of the original's variants.
    func waiters(ofOriginal original: Int) -> [Waiter] {
        originals[original]?.variants.flatMap { variants[$0].map { requests.waiters(of: $0.key) } ?? [] } ?? []
    }

    // MARK: - Stages

    /// The next step for a variant.
    enum Need: Equatable {
        /// The variant has no waiter any more.
        case gone
        /// The variant waits until the original is present.
        case waits
        /// Look for the original on disk.
        case seek(original: Int)
        /// Load the original, because the file on disk is damaged.
        case load(original: Int)
        /// Decode the original, which is present.
        case decode(original: Int)
    }

    /// Handles a variant that is not on disk. Returns the next step.
    mutating func needsOriginal(_ variant: Int) -> Need {
        guard let known = variants[variant], let original = originals[known.original] else { return .gone }
        variants[variant]?.stage = .waiting
        switch original.stage {
        case .unasked:
            originals[known.original]?.stage = .sought
            return .seek(original: known.original)
        case .sought, .loading: return .waits
        case .present:
            variants[variant]?.stage = .decoding
            return .decode(original: known.original)
        }
    }

    /// The next step for an original that is not on disk.
    enum Absence: Equatable {
        case gone
        case load
        /// The policy does not allow the network.
        case refuse
    }

    /// Handles an original that is not on disk. Returns the next step.
    mutating func isAbsent(_ original: Int) -> Absence {
        guard let known = originals[original] else { return .gone }
        guard known.key.policy.usesNetwork else { return .refuse }
        originals[original]?.stage = .loading
        return .load
    }

    /// Handles an original that has arrived from the disk or the network. Returns the variants to decode now.
    mutating func isPresent(_ original: Int, stored: Bool) -> [Int] {
        guard let known = originals[original] else { return [] }
        originals[original]?.stage = .present(stored: stored)
        let waiting = known.variants.filter { variants[$0]?.stage == .waiting }.sorted()
        for variant in waiting { variants[variant]?.stage = .decoding }
        return waiting
    }

    /// Handles a damaged file on disk. The original is loaded once for all variants that detect the damage.
    mutating func isDamaged(_ variant: Int) -> Need {
        guard let known = variants[variant], let original = originals[known.original] else { return .gone }
        switch original.stage {
        case .present(stored: false): return .decode(original: known.original)
        // Unasked means that another variant loaded the original meanwhile, and the transfer failed.
        case .present(stored: true), .unasked:
            originals[known.original]?.stage = .loading
            variants[variant]?.stage = .waiting
            return .load(original: known.original)
        case .sought, .loading:
            variants[variant]?.stage = .waiting
            return .waits
        }
    }

    /// The end of a variant.
    struct Ending: Equatable {
        let variant: Int
        let original: Int
        let waiters: [Waiter]
        /// Whether the original has no variant any more.
        let isLast: Bool
    }

    /// Handles the failure of an original. Ends the variants that wait for it.
    mutating func fails(_ original: Int) -> [Ending] {
        guard let known = originals[original] else { return [] }
        originals[original]?.stage = .unasked
        return known.variants.filter { variants[$0]?.stage == .waiting }.sorted().compactMap { ends($0) }
    }

    /// Handles the end of a variant, with or without an image. Returns nil if the variant has no waiter.
    mutating func ends(_ variant: Int) -> Ending? {
        guard let known = variants[variant] else { return nil }
        let waiters = requests.waiters(of: known.key).sorted()
        requests.ended(variant, of: known.key)
        return Ending(variant: variant, original: known.original, waiters: waiters, isLast: remove(variant))
    }

    /// Removes a variant. Returns whether the original was removed too.
    private mutating func remove(_ variant: Int) -> Bool {
        guard let known = variants.removeValue(forKey: variant) else { return false }
        originals[known.original]?.variants.remove(variant)
        guard case .stop = waitingVariants.leave(known.waiter) else { return false }
        originals[known.original] = nil
        return true
    }
}
