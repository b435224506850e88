import HTTPTypes
@testable import OperationsImages
@testable import OperationsNetworking
import TestSupport
import Testing

@Suite struct ImageBoardTests {
    private func key(_ url: String, _ size: Int? = nil, _ policy: ImageCachePolicy = .default) -> ImageBoard.VariantKey
    {
        let original = ImageBoard.OriginalKey(request: HTTPRequestDescription(.get, url), name: url, policy: policy)
        return ImageBoard.VariantKey(original: original, decoding: ImageDecodingOptions(maxPixelSize: size))
    }

    private func demand(_ priority: Int, paused isPaused: Bool = false) -> TransferDemand {
        TransferDemand(priority: priority, isPaused: isPaused)
    }

    @Test func `equal requests share a variant, other sizes share an original, and the last waiter removes both`() {
        var board = ImageBoard()
        let one = board.join(key("a", 1), demand(0))
        let same = board.join(key("a", 1), demand(4))
        let other = board.join(key("a", 2), demand(-4))
        #expect(one.begins && !same.begins && other.begins)
        #expect(one.variant == same.variant && one.original == other.original && one.variant != other.variant)
        #expect(
            board.demand(ofVariant: one.variant) == demand(4) && board.demand(ofOriginal: one.original) == demand(4))
        #expect(board.leave(same.waiter) == .continues(variant: one.variant, original: one.original))
        #expect(board.demand(ofOriginal: one.original) == demand(0))
        #expect(board.leave(one.waiter) == .stops(variant: one.variant, original: one.original, isLast: false))
        #expect(board.demand(ofOriginal: one.original) == demand(-4) && board.leave(one.waiter) == .hadLeft)
        #expect(board.leave(other.waiter) == .stops(variant: other.variant, original: one.original, isLast: true))
        #expect(board.isEmpty && board.originalCount == 0)
    }

    @Test func `one variant requests the original, and all waiting variants are decoded when it arrives`() {
        var board = ImageBoard()
        let (one, other, late) = (
            board.join(key("a", 1), demand(0)), board.join(key("a", 2), demand(0)),
            board.join(key("a", 3), demand(0))
        )
        #expect(board.needsOriginal(one.variant) == .seek(original: one.original))
        #expect(board.needsOriginal(other.variant) == .waits)
        #expect(board.isAbsent(one.original) == .load)
        #expect(board.isPresent(one.original, stored: false) == [one.variant, other.variant])
        #expect(board.needsOriginal(late.variant) == .decode(original: one.original))
        #expect(board.ends(one.variant)?.waiters == [one.waiter] && board.ends(one.variant) == nil)
        #expect(board.ends(other.variant)?.isLast == false && board.ends(late.variant)?.isLast == true)
        #expect(board.needsOriginal(one.variant) == .gone && board.isAbsent(one.original) == .gone)
    }

    @Test func `a damaged file on disk is loaded once for all variants that detect the damage`() {
        var board = ImageBoard()
        let (one, other) = (board.join(key("a", 1), demand(0)), board.join(key("a", 2), demand(0)))
        _ = (board.needsOriginal(one.variant), board.needsOriginal(other.variant))
        #expect(board.isPresent(one.original, stored: true) == [one.variant, other.variant])
        #expect(board.isDamaged(one.variant) == .load(original: one.original))
        #expect(board.isDamaged(other.variant) == .waits)
        #expect(board.isPresent(one.original, stored: false) == [one.variant, other.variant])
    }

    @Test func `a failure ends the waiting variants, and a later variant starts again`() {
        var board = ImageBoard()
        let (one, other) = (board.join(key("a", 1), demand(0)), board.join(key("a", 2), demand(0)))
        _ = (board.needsOriginal(one.variant), board.isAbsent(one.original))
        // The other variant is still being looked for on disk.
        #expect(board.fails(one.original).map(\.waiters) == [[one.waiter]])
        #expect(board.needsOriginal(other.variant) == .seek(original: one.original))
        #expect(board.isAbsent(one.original) == .load)
        #expect(board.fails(one.original).map(\.isLast) == [true])
        let cached = board.join(key("a", 1, .onlyCached), demand(0))
        #expect(board.needsOriginal(cached.variant) == .seek(original: cached.original))
        #expect(board.isAbsent(cached.original) == .refuse)
    }

    @Test func `an original is paused while all requests for all its variants are paused`() {
        var board = ImageBoard()
        let one = board.join(key("a", 1), demand(0))
        let same = board.join(key("a", 1), demand(0))
        let other = board.join(key("a", 2), demand(0))
        func isPaused() -> Bool? { board.demand(ofOriginal: one.original)?.isPaused }
        for waiter in [one.waiter, same.waiter] { _ = board.set(demand(0, paused: true), of: waiter) }
        #expect(board.demand(ofVariant: one.variant)?.isPaused == true && isPaused() == false)
        _ = board.set(demand(0, paused: true), of: other.waiter)
        #expect(isPaused() == true)
        // The stages do not matter: the first variant is looked for, and the other one waits for the original.
        _ = (board.needsOriginal(other.variant), board.isAbsent(one.original))
        #expect(isPaused() == true)
        let unpaused = board.join(key("a", 3), demand(0))
        #expect(isPaused() == false)
        _ = board.leave(unpaused.waiter)
        #expect(isPaused() == true)
        _ = board.set(demand(2, paused: true), of: same.waiter)
        #expect(board.demand(ofOriginal: one.original) == demand(2, paused: true))
        _ = board.set(demand(0), of: one.waiter)
        #expect(isPaused() == false)
        _ = board.leave(one.waiter)
        let late = board.set(demand(0), of: one.waiter)
        #expect(isPaused() == true && late == nil)
    }

    @Test func `an original is paused after its only unpaused variant has ended`() {
        var board = ImageBoard()
        let (damaged, intact) = (board.join(key("a", 1), demand(0)), board.join(key("a", 2), demand(0)))
        _ = (board.needsOriginal(damaged.variant), board.needsOriginal(intact.variant))
        _ = board.isPresent(damaged.original, stored: true)
        _ = board.set(demand(0, paused: true), of: damaged.waiter)
        #expect(board.isDamaged(damaged.variant) == .load(original: damaged.original))
        #expect(board.demand(ofOriginal: damaged.original)?.isPaused == false)
        #expect(board.ends(intact.variant)?.original == damaged.original)
        #expect(board.demand(ofOriginal: damaged.original)?.isPaused == true)
    }

    /// Simulates the pipeline in a random order of events. Each request must end once. The board must not look for or load an
    /// original twice at a time, and must be empty at the end.
    @Test(arguments: 0..<UInt64(100)) func `each request ends once, for every order of events`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var board = ImageBoard()
        var waiting: Set<Int> = []
        // The pending actions of the simulated pipeline.
        var seekingVariants: [Int] = []
        var seekingOriginals: [Int] = []
        var loading: [Int] = []
        var decoding: [(variant: Int, stored: Bool)] = []
        func end(_ endings: [ImageBoard.Ending]) {
            for waiter in endings.flatMap(\.waiters) { #expect(waiting.remove(waiter) != nil) }
        }
        var isStored: [Int: Bool] = [:]
        func obey(_ need: ImageBoard.Need, _ variant: Int) {
            switch need {
            case .gone, .waits: break
            case .seek(let original): seekingOriginals.append(original)
            case .load(let original): loading.append(original)
            case .decode(let original): decoding.append((variant, isStored[original]!))
            }
            #expect(Set(seekingOriginals + loading).count == seekingOriginals.count + loading.count)
        }
        func step(joins: Bool) {
            switch random.below(joins ? 9 : 6) {
            case 0:
                guard let variant = seekingVariants.popLast() else { return }
                if random.chance(20), let ending = board.ends(variant) {
                    end([ending])
                } else {
                    obey(board.needsOriginal(variant), variant)
                }
            case 1:
                guard let original = seekingOriginals.popLast() else { return }
                if random.chance(50) {
                    isStored[original] = true
                    decoding += board.isPresent(original, stored: true).map { ($0, true) }
                } else if board.isAbsent(original) == .load {
                    loading.append(original)
                }
            case 2:
                guard !loading.isEmpty else { return }
                let original = loading.remove(at: random.below(loading.count))
                if random.chance(30) { return end(board.fails(original)) }
                isStored[original] = false
                decoding += board.isPresent(original, stored: false).map { ($0, false) }
            case 3, 4:
                guard !decoding.isEmpty else { return }
                let (variant, stored) = decoding.remove(at: random.below(decoding.count))
                if stored, random.chance(40) { return obey(board.isDamaged(variant), variant) }
                if let ending = board.ends(variant) { end([ending]) }
            case 5:
                guard !joins || random.chance(30), let waiter = waiting.randomElement(using: &random) else { return }
                #expect(board.leave(waiter) != .hadLeft)
                waiting.remove(waiter)
            default:
                let joining = board.join(key("\(random.below(3))", random.below(3)), demand(random.below(5)))
                waiting.insert(joining.waiter)
                if joining.begins { seekingVariants.append(joining.variant) }
            }
        }
        for _ in 0..<500 { step(joins: true) }
        for _ in 0..<2000 where !waiting.isEmpty { step(joins: false) }
        #expect(waiting.isEmpty && board.isEmpty && board.originalCount == 0)
    }
}
