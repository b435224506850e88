import OperationsImages
import Testing

struct RasterImageTests {
    @Test(arguments: [
        (0, 1, 0), (1, 0, 0), (-1, -1, 4), (2, 2, 15), (2, 2, 17), (1 << 40, 1 << 40, 4), (.max, .max, 4),
    ])
    func `pixels that do not match the size are not an image`(width: Int, height: Int, bytes: Int) {
        #expect(RasterImage(width: width, height: height, pixels: [UInt8](repeating: 0, count: bytes)) == nil)
    }

    @Test func `frames of different sizes are not an animation`() throws {
        let small = try #require(RasterImage(width: 1, height: 1, pixels: [0, 0, 0, 0]))
        let large = try #require(RasterImage(width: 2, height: 1, pixels: [UInt8](repeating: 0, count: 8)))
        #expect(DecodedImage(frames: []) == nil)
        #expect(DecodedImage(frames: [.init(image: small), .init(image: large)]) == nil)
        #expect(DecodedImage(frames: [.init(image: small), .init(image: small)])?.byteCount == 8)
    }

    @Test func `a pixel is found by its coordinates`() throws {
        let image = try #require(RasterImage(width: 2, height: 1, pixels: [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(image[1, 0] == (5, 6, 7, 8))
    }
}
