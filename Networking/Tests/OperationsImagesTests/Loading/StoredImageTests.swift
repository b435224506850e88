import Foundation
@testable import OperationsImages
import TestSupport
import Testing

@Suite struct StoredImageTests {
    private func picture(_ seed: UInt8) -> RasterImage {
        TestPicture.make(3, 2) { x, y in [UInt8(x), UInt8(y), seed, 255] }
    }

    private var animation: DecodedImage {
        let frames = [
            DecodedImage.Frame(image: picture(1), duration: .milliseconds(70)),
            DecodedImage.Frame(image: picture(2), duration: .seconds(3)),
        ]
        return DecodedImage(format: .gif, frames: frames, loopCount: 5)!
    }

    @Test func `every bit is restored, including frames and durations`() {
        for image in [animation, DecodedImage(picture(9))] {
            #expect(StoredImage(StoredImage(image).data)?.image == image)
        }
    }

    @Test func `truncated, longer or damaged data gives no image, or an image of the correct size`() {
        let data = StoredImage(animation).data
        for count in 0..<data.count { #expect(StoredImage(Data(data.prefix(count))) == nil) }
        #expect(StoredImage(data + [0]) == nil)
        var random = SeededRandom(seed: 1)
        for _ in 0..<20_000 {
            var damaged = data
            for _ in 0...random.below(4) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
            guard let image = StoredImage(damaged)?.image else { continue }
            #expect(image.byteCount < data.count)
        }
    }
}
