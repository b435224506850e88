#if Images
import OperationsImages
import Testing

struct DecodingTests {
    private let decoder = StandardImageDecoder()
    private let red = [200, 40, 20, 255]

    // MARK: - Formats

    @Test(arguments: [
        ImageFiles.losslessWebP, ImageFiles.lossyWebP, ImageFiles.progressiveJPEG, ImageFiles.interlacedPNG,
        ImageFiles.palettePNG,
    ])
    func `every format gives the same pixels`(file: [UInt8]) throws {
        let decoded = try decoder.decode(file)
        #expect([decoded.width, decoded.height, decoded.frames.count] == [8, 8, 1])
        #expect(decoded.format == ImageFormat(sniffing: file))
        for place in 0..<8 { #expect(decoded.image.isNear(red, at: (place, place))) }
    }

    @Test func `sixteen bits of gray become eight bits of each color`() throws {
        let image = try decoder.decode(ImageFiles.greyPNG).image
        #expect(image.isNear([200, 200, 200, 255], at: (3, 3), tolerance: 1))
    }

    @Test func `CMYK becomes sRGB`() throws {
        let image = try decoder.decode(ImageFiles.cmykJPEG).image
        #expect(image.isNear(red, at: (4, 4), tolerance: 40))
    }

    @Test func `a PNG keeps every bit, including transparency`() throws {
        let picture = TestPicture.make(37, 23) { x, y in [UInt8(x), UInt8(y), UInt8(x ^ y), UInt8(255 - x)] }
        let file = try picture.encoded(as: .png)
        #expect(try decoder.decode(file).image == picture)
    }

    @Test(arguments: 1...8)
    func `every orientation is turned upright`(orientation: UInt8) throws {
        // The stored photograph has 40 × 20 pixels, and its left half is red.
        let file = ImageFiles.turned(try TestPicture.halves(40, 20).encoded(as: .jpeg), orientation: orientation)
        let image = try decoder.decode(file).image
        let small = try decoder.decode(file, options: ImageDecodingOptions(maxPixelSize: 10)).image
        #expect([image.width, image.height] == (orientation < 5 ? [40, 20] : [20, 40]))
        #expect([small.width, small.height] == (orientation < 5 ? [10, 5] : [5, 10]))
        let redIsFirst = [1, 4, 5, 6].contains(orientation)
        #expect(image.isNear(redIsFirst ? [255, 0, 0, 255] : [0, 0, 255, 255], at: (2, 2), tolerance: 20))
    }

    // MARK: - Animations

    @Test(arguments: [1, 3, 40])
    func `all frames of a GIF are decoded with their durations, or only the first frame`(count: Int) throws {
        let file = ImageFiles.gif(frames: count)
        let all = try decoder.decode(file, options: ImageDecodingOptions(frames: .all()))
        #expect(all.frames.count == count)
        #expect(all.isAnimated == (count > 1))
        for (index, frame) in all.frames.enumerated() {
            #expect(frame.duration == .milliseconds(70))
            #expect(frame.image.pixels == (index % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 255]))
        }
        #expect(try decoder.decode(file).frames.count == 1)
        #expect(try decoder.decode(file, options: .init(frames: .all(limit: 2))).frames.count == min(2, count))
    }

    @Test(arguments: [ImageFormat.gif, .webP])
    func `an encoded animation is decoded unchanged`(format: ImageFormat) throws {
        let colours: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]]
        let frames = colours.enumerated().map { index, colour in
            DecodedImage.Frame(
                image: TestPicture.plain(40, 20, colour), duration: .milliseconds(100 * (index + 1)))
        }
        let animation = try #require(DecodedImage(frames: frames, loopCount: 3))
        let file = try animation.encoded(as: format, quality: 100)
        #expect(try ImageHeader(file).frameCount == 3)
        for size in [nil, 10] {
            let decoded = try decoder.decode(file, options: .init(maxPixelSize: size, frames: .all()))
            #expect(decoded.frames.map(\.duration) == frames.map(\.duration))
            #expect([decoded.width, decoded.height] == (size == nil ? [40, 20] : [10, 5]))
            for (frame, colour) in zip(decoded.frames, colours) {
                // The edges show that scaling does not mix adjacent frames.
                for y in [0, decoded.height - 1] { #expect(frame.image.isNear(colour.map(Int.init), at: (0, y))) }
            }
        }
    }

    private func pixels(_ file: [UInt8]) throws -> [[UInt8]] {
        try decoder.decode(file, options: .init(frames: .all())).frames.map(\.image.pixels)
    }

    private let clear: [UInt8] = [0, 0, 0, 0]
    private let r: [UInt8] = [255, 0, 0, 255]
    private let g: [UInt8] = [0, 255, 0, 255]
    private let b: [UInt8] = [0, 0, 255, 255]

    @Test func `the parts of a GIF that no frame covers are transparent`() throws {
        let one = ImageFiles.gif(screen: (3, 1), [.init(place: (1, 0, 1, 1), colour: 0)])
        #expect(try pixels(one) == [clear + r + clear])
        let two = ImageFiles.gif(
            screen: (3, 1),
            [
                .init(place: (1, 0, 1, 1), control: (0, 7), colour: 0),
                .init(place: (2, 0, 1, 1), control: (0, 7), colour: 1),
            ])
        #expect(try pixels(two) == [clear + r + clear, clear + r + b])
        #expect(try decoder.decode(two).image.pixels == clear + r + clear)
        let mixed = ImageFiles.gif(
            screen: (3, 1),
            [
                .init(place: (1, 0, 1, 1), control: (0, 7), colour: 0),
                .init(place: (1, 0, 2, 1), control: (0, 7), colour: 1, transparent: 1),
            ])
        #expect(try pixels(mixed) == [clear + r + clear, clear + r + clear])
        // A covered canvas, without any control extension.
        #expect(try pixels(ImageFiles.gif(screen: (2, 1), [.init(place: (0, 0, 2, 1), colour: 2)])) == [g + g])
        let large = ImageFiles.gif(screen: (40, 20), [.init(place: (20, 0, 20, 20), colour: 1)])
        let small = try decoder.decode(large, options: .init(maxPixelSize: 10)).image
        #expect(small.isNear([0, 0, 0, 0], at: (1, 2)) && small.isNear([0, 0, 255, 255], at: (8, 2)))
    }

    @Test(arguments: [nil, 0] as [UInt8?])
    func `a cleared frame of a GIF leaves its part transparent`(transparent: UInt8?) throws {
        let file = ImageFiles.gif(
            screen: (3, 1),
            [
                .init(place: (0, 0, 3, 1), control: (0, 7), colour: 0),
                .init(place: (1, 0, 2, 1), control: (2, 7), colour: 1, transparent: transparent),
                .init(place: (0, 0, 1, 1), control: (3, 7), colour: 2),
                .init(place: (1, 0, 1, 1), control: (1, 7), colour: 2),
            ])
        #expect(try pixels(file) == [r + r + r, r + b + b, g + clear + clear, r + g + clear])
    }

    @Test func `a frame of a GIF has the duration in the file, or none`() throws {
        func frame(_ hundredths: Int?) -> ImageFiles.Frame {
            .init(place: (0, 0, 1, 1), control: hundredths.map { (0, $0) }, colour: 0)
        }
        let hundredths = [nil, 0, 1, 2, nil, 10, 65_535]
        let file = ImageFiles.gif(screen: (1, 1), hundredths.map(frame))
        let decoded = try decoder.decode(file, options: .init(frames: .all()))
        #expect(decoded.frames.map(\.duration) == hundredths.map { .milliseconds(10 * ($0 ?? 0)) })
        #expect(try decoder.decode(file).frames.map(\.duration) == [.zero])
    }

    @Test func `an animated PNG is its first frame`() throws {
        for frames in [ImageDecodingOptions.Frames.first, .all()] {
            #expect(
                try decoder.decode(ImageFiles.animatedPNG, options: .init(frames: frames)).frames.map(\.image) == [
                    TestPicture.plain(2, 2, [255, 0, 0, 255])
                ])
        }
    }

    // MARK: - Color profiles

    @Test(arguments: [["A2B0"], ["A2B1"], ["A2B2"], ["A2B0", "A2B1"], ["A2B2", "A2B0"]])
    func `a profile is applied, regardless of the intent of its table`(tables: [String]) throws {
        let profile = ImageFiles.profile(tables)
        let jpeg = ImageFiles.labelled(try TestPicture.plain(40, 20, [255, 0, 0, 255]).encoded(as: .jpeg), profile)
        for size in [nil, 10] {
            let image = try decoder.decode(jpeg, options: .init(maxPixelSize: size)).image
            #expect(image.isNear([0, 0, 255, 255], at: (2, 2), tolerance: 100) && image[2, 2].red < 120)
        }
        let frames = [[255, 0, 0, 255], [0, 255, 0, 255]].map { colour in
            DecodedImage.Frame(image: TestPicture.plain(40, 20, colour.map { UInt8($0) }), duration: .milliseconds(50))
        }
        // The chunk of the profile follows the chunk VP8X, which announces it.
        var webP = try #require(DecodedImage(frames: frames)).encoded(as: .webP, quality: 100)
        webP[20] |= 0x20
        let body = profile + (profile.count % 2 == 0 ? [] : [0])
        webP.insert(contentsOf: Array("ICCP".utf8) + ImageFiles.little(profile.count, 4) + body, at: 30)
        webP.replaceSubrange(4..<8, with: ImageFiles.little(webP.count - 8, 4))
        let animation = try decoder.decode(webP, options: .init(frames: .all()))
        #expect(animation.frames.count == 2 && animation.image[2, 2].red < 120 && animation.image[2, 2].blue > 200)
    }

    @Test(arguments: [nil, 3]) func `the profile of a file in CMYK is applied`(size: Int?) throws {
        let file = ImageFiles.labelled(ImageFiles.cmykJPEG, ImageFiles.greenProfile)
        let image = try decoder.decode(file, options: .init(maxPixelSize: size)).image
        for place in [(0, 0), (1, 2)] { #expect(image.isNear([0, 255, 0, 255], at: place, tolerance: 40)) }
    }

    // MARK: - Thumbnails

    @Test(arguments: ImageFormat.allCases, [1, 7, 64, 250, 1_000])
    func `a thumbnail's longer side has the requested size, and never exceeds the source`(
        format: ImageFormat, size: Int
    ) throws {
        let picture = TestPicture.halves(500, 250)
        let file = try picture.encoded(as: format)
        let options = ImageDecodingOptions(maxPixelSize: size)
        let thumbnail = try decoder.decode(file, options: options).image
        #expect(thumbnail.width == min(size, 500))
        #expect(abs(thumbnail.height * 2 - thumbnail.width) <= 1)
        if size > 1 {
            let middle = thumbnail.height / 2
            #expect(thumbnail.isNear([255, 0, 0, 255], at: (0, middle), tolerance: 30))
            #expect(thumbnail.isNear([0, 0, 255, 255], at: (thumbnail.width - 1, middle), tolerance: 30))
        }
        let scaled = try picture.thumbnail(maxPixelSize: size)
        #expect([scaled.width, scaled.height] == [thumbnail.width, thumbnail.height])
    }

    @Test func `a thumbnail of a very long image is at least one pixel wide`() throws {
        let picture = TestPicture.plain(3_000, 2, [1, 2, 3, 255])
        let small = try decoder.decode(picture.encoded(as: .png), options: .init(maxPixelSize: 10)).image
        #expect([small.width, small.height] == [10, 1])
        #expect(try picture.thumbnail(maxPixelSize: 0).pixels.count == 4)
    }

    @Test(arguments: ImageFormat.allCases, [1, 2, 3, 7, 15, 31])
    func `a thumbnail of a thin image has at least one pixel on each side`(format: ImageFormat, shorter: Int) throws {
        for (width, height) in [(2_000, shorter), (shorter, 2_000)] {
            let file = try TestPicture.plain(width, height, [200, 40, 20, 255]).encoded(as: format)
            for size in [1, 10, 100, 900] {
                let image = try decoder.decode(file, options: .init(maxPixelSize: size)).image
                let other = max(1, (Double(size * shorter) / 2_000).rounded())
                #expect([image.width, image.height].max() == size)
                #expect(abs(Double(min(image.width, image.height)) - other) <= 1)
                #expect(image.isNear(red, at: (image.width / 2, image.height / 2), tolerance: 20))
            }
        }
    }

    @Test(arguments: [-1, 0, Int.max])
    func `an extreme maximum size is limited to a valid size`(size: Int) throws {
        let image = try decoder.decode(ImageFiles.losslessWebP, options: .init(maxPixelSize: size)).image
        #expect(image.width == (size > 0 ? 8 : 1))
    }
}
#endif
