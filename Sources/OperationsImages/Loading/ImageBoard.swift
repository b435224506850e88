#if Networking
import HTTPCore
import OperationsNetworking

/// Who waits for which image, and how far each is (rules I2, I3): a plain value.
///
/// An *original* is what is transferred; a *variant* is what a decoder makes of it. Waiters of equal wishes share a variant,
/// variants of equal requests share an original, and each of the three is as urgent as the most urgent that waits for it.
///
///     variant    sought ──► waiting ──► decoding ──► ended
///     (on disk)    └──────────────────────┬─────────► ended
///                            ▲            │ of a damaged file on disk
///                            └────────────┘
///     original   unasked ──► sought ──► loading ──► present
///                            (on disk) └──────────────▲
///
/// An original fails as a whole, for the variants that wait for it; those that come later begin anew. It goes with its
/// last variant.
struct ImageBoard {
    struct OriginalKey: Hashable, Sendable {
        let request: HTTPOperationRequest
        /// What caches know it by.
        let name: String
        let policy: ImageCachePolicy
        /// How many changes the session's requests had made when it was asked for: it does not join an older transfer.
        var changes = 0

        /// The name under which its failures are remembered.
        var failureName: String {
            let user = UserIdentity(
                nil, fields: request.fields, credentialFields: request.redirects.credentialFields)
            return request.url + (user.secret.map { " " + $0 } ?? "")
        }

        // All of the request would be hashed for nothing: few share an address and differ.
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
        /// Among those who wait for the original.
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
        /// Nobody makes this variant: begin to.
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

    enum Leaving: Equatable {
        /// It has been served, or has left.
        case needless
        /// Others wait for it; perhaps less urgently.
        case goesOn(variant: Int, original: Int)
        /// Nobody wants the variant any longer; nor the original, if this was the last one.
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

    /// nil if it waits no longer.
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

    /// All who wait for variants of it.
    func waiters(ofOriginal original: Int) -> [Waiter] {
        originals[original]?.variants.flatMap { variants[$0].map { wishes.waiters(of: $0.key) } ?? [] } ?? []
    }

    // MARK: - Stages

    enum Need: Equatable {
        /// Nobody wants the variant any longer.
        case gone
        /// It is decoded as soon as the original is there.
        case waits
        /// The original is to be looked for on disk.
        case seek(original: Int)
        /// The original is to be loaded: what was on disk is damaged.
        case load(original: Int)
        /// The original is there.
        case decode(original: Int)
    }

    /// The variant is not on disk: it has to be made.
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

    enum Absence: Equatable {
        case gone
        case load
        /// The policy forbids the network.
        case refuse
    }

    /// The original is not on disk.
    mutating func isAbsent(_ original: Int) -> Absence {
        guard let known = originals[original] else { return .gone }
        guard known.key.policy.usesNetwork else { return .refuse }
        originals[original]?.stage = .loading
        return .load
    }

    /// The original is there, from the disk or from the network. Answers the variants that are to be decoded now.
    mutating func isPresent(_ original: Int, stored: Bool) -> [Int] {
        guard let known = originals[original] else { return [] }
        originals[original]?.stage = .present(stored: stored)
        let waiting = known.variants.filter { variants[$0]?.stage == .waiting }.sorted()
        for variant in waiting { variants[variant]?.stage = .decoding }
        return waiting
    }

    /// What was on disk cannot be decoded. It is loaded instead, once, for all who find this.
    mutating func isDamaged(_ variant: Int) -> Need {
        guard let known = variants[variant], let original = originals[known.original] else { return .gone }
        switch original.stage {
        case .present(stored: false): return .decode(original: known.original)
        // Unasked: it was loaded meanwhile, and failed.
        case .present(stored: true), .unasked:
            originals[known.original]?.stage = .loading
            variants[variant]?.stage = .waiting
            return .load(original: known.original)
        case .sought, .loading:
            variants[variant]?.stage = .waiting
            return .waits
        }
    }

    struct Ending: Equatable {
        let variant: Int
        let waiters: [Waiter]
        /// Nobody wants the original any longer.
        let isLast: Bool
    }

    /// There is no original. Ends the variants that wait for it.
    mutating func fails(_ original: Int) -> [Ending] {
        guard let known = originals[original] else { return [] }
        originals[original]?.stage = .unasked
        return known.variants.filter { variants[$0]?.stage == .waiting }.sorted().compactMap { ends($0) }
    }

    /// The variant is there, or cannot be made; nil if nobody wants it.
    mutating func ends(_ variant: Int) -> Ending? {
        guard let known = variants[variant] else { return nil }
        let waiters = wishes.waiters(of: known.key).sorted()
        wishes.ended(variant, of: known.key)
        return Ending(variant: variant, waiters: waiters, isLast: remove(variant))
    }

    /// True: the original has gone with it.
    private mutating func remove(_ variant: Int) -> Bool {
        guard let known = variants.removeValue(forKey: variant) else { return false }
        originals[known.original]?.variants.remove(variant)
        guard case .stop = seats.leave(known.seat) else { return false }
        originals[known.original] = nil
        return true
    }
}
#endif
