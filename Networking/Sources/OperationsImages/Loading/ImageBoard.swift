import HTTPCore
import OperationsNetworking

/// The waiting requests for images, and the stage of each image. The type is a value.
///
/// An *original* is the transferred file, and a *variant* is the result of a decoder. Equal requests share a variant,
/// and variants of equal transfers share an original. Each variant and each original has the highest priority of its
/// waiters.
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
        /// The variant's identifier among the waiters of the original.
        let seat: Int
        var stage = Stage.sought
    }

    private struct Original {
        enum Stage { case unasked, sought, loading, present(stored: Bool) }

        let key: OriginalKey
        var stage = Stage.unasked
        var variants: Set<Int> = []
    }

    private var wishes = Coalescer<VariantKey, Int>()
    private var seats = Coalescer<OriginalKey, Int>()
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

    mutating func join(_ key: VariantKey, priority: Int) -> Joining {
        let (waiter, joining) = wishes.join(key, priority: priority)
        switch joining {
        case .begin(let variant):
            let (seat, sitting) = seats.join(key.original, priority: priority)
            let original: Int
            switch sitting {
            case .begin(let new):
                original = new
                originals[new] = Original(key: key.original)
            case .joined(let known, _): original = known
            }
            variants[variant] = Variant(key: key, original: original, seat: seat)
            originals[original]?.variants.insert(variant)
            return Joining(waiter: waiter, variant: variant, original: original, begins: true)
        case .joined(let variant, let raised):
            let known = variants[variant]!
            if let raised { _ = seats.setPriority(raised, of: known.seat) }
            return Joining(waiter: waiter, variant: variant, original: known.original, begins: false)
        }
    }

    /// The result of a waiter's departure.
    enum Leaving: Equatable {
        /// The waiter has already received its image or has already left.
        case needless
        /// Other waiters remain, perhaps with a lower priority.
        case goesOn(variant: Int, original: Int)
        /// The variant has no waiter any more. `isLast` states whether the original is removed too.
        case stops(variant: Int, original: Int, isLast: Bool)
    }

    mutating func leave(_ waiter: Waiter) -> Leaving {
        switch wishes.leave(waiter) {
        case .needless: return .needless
        case .goesOn(let variant, let urgency):
            let known = variants[variant]!
            _ = seats.setPriority(urgency, of: known.seat)
            return .goesOn(variant: variant, original: known.original)
        case .stop(let variant):
            let known = variants[variant]!
            return .stops(variant: variant, original: known.original, isLast: remove(variant))
        }
    }

    /// Changes the priority of a waiter. Returns nil if the waiter no longer waits.
    mutating func setPriority(_ priority: Int, of waiter: Waiter) -> (variant: Int, original: Int)? {
        guard let (variant, urgency) = wishes.setPriority(priority, of: waiter), let known = variants[variant] else {
            return nil
        }
        _ = seats.setPriority(urgency, of: known.seat)
        return (variant, known.original)
    }

    // MARK: - Questions

    func key(ofVariant variant: Int) -> VariantKey? { variants[variant]?.key }
    func key(ofOriginal original: Int) -> OriginalKey? { originals[original]?.key }
    func original(ofVariant variant: Int) -> Int? { variants[variant]?.original }
    func original(ofWaiter waiter: Waiter) -> Int? {
        wishes.key(of: waiter).flatMap { wishes.transfer(of: $0) }.flatMap { variants[$0]?.original }
    }
    func urgency(ofVariant variant: Int) -> Int? { variants[variant].flatMap { wishes.urgency(of: $0.key) } }
    func urgency(ofOriginal original: Int) -> Int? { originals[original].flatMap { seats.urgency(of: $0.key) } }

    /// Returns all waiters of the original's variants.
    func waiters(ofOriginal original: Int) -> [Waiter] {
        originals[original]?.variants.flatMap { variants[$0].map { wishes.waiters(of: $0.key) } ?? [] } ?? []
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
        let waiters = wishes.waiters(of: known.key).sorted()
        wishes.ended(variant, of: known.key)
        return Ending(variant: variant, waiters: waiters, isLast: remove(variant))
    }

    /// Removes a variant. Returns whether the original was removed too.
    private mutating func remove(_ variant: Int) -> Bool {
        guard let known = variants.removeValue(forKey: variant) else { return false }
        originals[known.original]?.variants.remove(variant)
        guard case .stop = seats.leave(known.seat) else { return false }
        originals[known.original] = nil
        return true
    }
}
