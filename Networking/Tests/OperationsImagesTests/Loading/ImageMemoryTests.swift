@testable import OperationsImages
import TestSupport
import Testing

@Suite struct ImageMemoryTests {
    private func image(_ width: Int) -> DecodedImage { DecodedImage(TestPicture.plain(width, 1, [1, 2, 3, 255])) }
    private func key(_ name: String, _ size: Int) -> ImageMemory.Key {
        ImageMemory.Key(name, ImageDecodingOptions(maxPixelSize: size))
    }

    @Test func `the removal of a name removes all its sizes and no other image`() {
        var memory = ImageMemory(costLimit: .max, countLimit: .max)
        for name in ["a", "b"] { for size in 1...3 { _ = memory.insert(image(size), for: key(name, size)) } }
        #expect(memory.remove("a").map(\.width).sorted() == [1, 2, 3])
        #expect(memory.remove("a").isEmpty && memory.use(key("a", 1)) == nil)
        #expect(memory.count == 3 && memory.cost == 24 && memory.nameCount == 1)
        #expect(memory.removeAll().count == 3 && memory.remove("b").isEmpty)
        #expect(memory.count == 0 && memory.cost == 0 && memory.nameCount == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `the removal of a name takes no longer with many other images`() {
        var memory = ImageMemory(costLimit: .max, countLimit: .max)
        let image = image(1)
        let names = (0..<20_000).map { "\($0)" }
        for name in names { _ = memory.insert(image, for: key(name, 1)) }
        for name in names { #expect(memory.remove(name).count == 1) }
    }

    @Test(arguments: 0..<UInt64(20)) func `exactly the names of images in memory are kept`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var memory = ImageMemory(costLimit: 4 * random.below(40), countLimit: random.below(8))
        for _ in 0..<300 {
            let name = "\(random.below(4))"
            if random.chance(10) {
                _ = memory.remove(name)
            } else {
                _ = memory.insert(image(1 + random.below(12)), for: key(name, random.below(4)))
            }
            let names = (0..<4).filter { name in
                (0..<4).contains { memory.use(key("\(name)", $0)) != nil }
            }
            #expect(memory.nameCount == names.count)
        }
    }
}
