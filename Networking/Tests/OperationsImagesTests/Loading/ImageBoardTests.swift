import HTTPTypes
@testable import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

@Suite struct ImageBoardTests {
    private func key(_ url: String, _ size: Int? = nil, _ policy: ImageCachePolicy = .default) -> ImageBoard.VariantKey
    {
        let original = ImageBoard.OriginalKey(request: HTTPRequestDescription(.get, url), name: url, policy: policy)
        return ImageBoard.VariantKey(original: original, decoding: ImageDecodingOptions(maxPixelSize: size))
    }

    @Test func `equal requests share a variant, other sizes share an original, and the last waiter removes both`() {
        var board = ImageBoard()
        let one = board.join(key("a", 1), priority: 0)
        let same = board.join(key("a", 1), priority: 4)
        let other = board.join(key("a", 2), priority: -4)
        #expect(one.begins && !same.begins && other.begins)
        #expect(one.variant == same.variant && one.original == other.original && one.variant != other.variant)
        #expect(board.urgency(ofVariant: one.variant) == 4 && board.urgency(ofOriginal: one.original) == 4)
        #expect(board.leave(same.waiter) == .goesOn(variant: one.variant, original: one.original))
        #expect(board.urgency(ofOriginal: one.original) == 0)
        #expect(board.leave(one.waiter) == .stops(variant: one.variant, original: one.original, isLast: false))
        #expect(board.urgency(ofOriginal: one.original) == -4 && board.leave(one.waiter) == .needless)
        #expect(board.leave(other.waiter) == .stops(variant: other.variant, original: one.original, isLast: true))
        #expect(board.isEmpty && board.originalCount == 0)
    }

    @Test func `one variant requests the original, and all waiting variants are decoded when it arrives`() {
        var board = ImageBoard()
        let (one, other, late) = (
            board.join(key("a", 1), priority: 0), board.join(key("a", 2), priority: 0),
            board.join(key("a", 3), priority: 0)
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
        let (one, other) = (board.join(key("a", 1), priority: 0), board.join(key("a", 2), priority: 0))
        _ = (board.needsOriginal(one.variant), board.needsOriginal(other.variant))
        #expect(board.isPresent(one.original, stored: true) == [one.variant, other.variant])
        #expect(board.isDamaged(one.variant) == .load(original: one.original))
        #expect(board.isDamaged(other.variant) == .waits)
        #expect(board.isPresent(one.original, stored: false) == [one.variant, other.variant])
    }

    @Test func `a failure ends the waiting variants, and a later variant starts again`() {
        var board = ImageBoard()
        let (one, other) = (board.join(key("a", 1), priority: 0), board.join(key("a", 2), priority: 0))
        _ = (board.needsOriginal(one.variant), board.isAbsent(one.original))
        // The other variant is still being looked for on disk.
        #expect(board.fails(one.original).map(\.waiters) == [[one.waiter]])
        #expect(board.needsOriginal(other.variant) == .seek(original: one.original))
        #expect(board.isAbsent(one.original) == .load)
        #expect(board.fails(one.original).map(\.isLast) == [true])
        let cached = board.join(key("a", 1, .onlyCached), priority: 0)
        #expect(board.needsOriginal(cached.variant) == .seek(original: cached.original))
        #expect(board.isAbsent(cached.original) == .refuse)
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
                #expect(board.leave(waiter) != .needless)
                waiting.remove(waiter)
            default:
                let joining = board.join(key("\(random.below(3))", random.below(3)), priority: random.below(5))
                waiting.insert(joining.waiter)
                if joining.begins { seekingVariants.append(joining.variant) }
            }
        }
        for _ in 0..<500 { step(joins: true) }
        for _ in 0..<2000 where !waiting.isEmpty { step(joins: false) }
        #expect(waiting.isEmpty && board.isEmpty && board.originalCount == 0)
    }
}
