import OperationsImages
import Testing

/// Tests of the checks before the library runs, which apply with and without the trait `Images`.
struct StandardImageDecoderTests {
    private let decoder = StandardImageDecoder()

    @Test func `a bomb is refused by its headers, with the needed and the allowed bytes`() {
        let needed = 65_535 * 65_535 * 4
        let error = ImageError.tooLarge(neededBytes: needed, allowedBytes: 512 << 20)
        #expect(throws: error) { try decoder.decode(ImageFiles.png(65_535, 65_535)) }
        #expect(throws: error) { try decoder.decode(ImageFiles.jpeg(65_535, 65_535)) }
        let thumbnail = ImageDecodingOptions(maxPixelSize: 10)
        #expect(throws: error) { try decoder.decode(ImageFiles.png(65_535, 65_535), options: thumbnail) }
    }

    @Test func `the memory limit counts every requested frame`() {
        let gif = ImageFiles.gif(screen: (1_000, 1_000), frames: 50)
        let all = ImageDecodingOptions(frames: .all(), memoryLimit: 100_000_000)
        #expect(throws: ImageError.tooLarge(neededBytes: 204_000_000, allowedBytes: 100_000_000)) {
            try decoder.decode(gif, options: all)
        }
        let some = ImageDecodingOptions(frames: .all(limit: 20), memoryLimit: 50_000_000)
        #expect(throws: ImageError.tooLarge(neededBytes: 84_000_000, allowedBytes: 50_000_000)) {
            try decoder.decode(gif, options: some)
        }
    }

    @Test func `empty data, an unknown format and a zero size are different errors`() {
        #expect(throws: ImageError.emptyData) { try decoder.decode([]) }
        #expect(throws: ImageError.unknownFormat) { try decoder.decode(Array("<svg/>".utf8)) }
        #expect(throws: ImageError.zeroSize(.png)) { try decoder.decode(ImageFiles.png(0, 0)) }
    }

    @Test func `a decoding that was cancelled before its start throws`() {
        #expect(throws: ImageError.cancelled) {
            try decoder.decode(ImageFiles.gif(), options: ImageDecodingOptions(), isCancelled: { true })
        }
    }

    @Test func `a custom decoder needs no trait`() throws {
        struct Grey: ImageDecoder {
            func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage
            {
                let pixels = [UInt8](repeating: 128, count: 4 * data.count)
                guard let image = RasterImage(width: data.count, height: 1, pixels: pixels) else {
                    throw ImageError.emptyData
                }
                return DecodedImage(image)
            }
        }
        let decoder: any ImageDecoder = Grey()
        #expect(try decoder.decode([1, 2, 3]).width == 3)
        #expect(throws: ImageError.emptyData) { try decoder.decode([]) }
    }

    #if !Images
    @Test func `without the trait a valid image fails with an error that names the remedy`() {
        #expect(throws: ImageError.builtWithoutImages) { try decoder.decode(ImageFiles.gif()) }
        let image = RasterImage(width: 2, height: 1, pixels: [UInt8](repeating: 0, count: 8))
        #expect(throws: ImageError.builtWithoutImages) { try image?.encoded(as: .png) }
        #expect(throws: ImageError.builtWithoutImages) { try image?.thumbnail(maxPixelSize: 1) }
        #expect("\(ImageError.builtWithoutImages)".contains("trait Images"))
    }
    #endif
}
