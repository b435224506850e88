#if Images
@testable import OperationsImages
import Testing
import TestSupport

struct DamagedImageTests {
    private let decoder = StandardImageDecoder()

    private static func picture(_ format: ImageFormat) throws -> [UInt8] {
        var random = SeededRandom(seed: 3)
        return try TestPicture.make(64, 64) { _, _ in (0..<3).map { _ in UInt8(random.below(256)) } + [255] }
            .encoded(as: format)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a truncated file is undecodable`(format: ImageFormat) throws {
        let file = try Self.picture(format)
        for part in [4, 2] {
            #expect {
                try decoder.decode(Array(file.prefix(file.count * (part - 1) / part)))
            } throws: {
                if case .undecodable(format, let reason)? = $0 as? ImageError { !reason.isEmpty } else { false }
            }
        }
    }

    @Test(arguments: [
        ImageFiles.png(8, 8), ImageFiles.jpeg(8, 8), ImageFiles.jpeg(8, 8, progressive: true, scans: 2),
        ImageFiles.webP([ImageFiles.canvas(8, 8)]), ImageFiles.webP([ImageFiles.frame(8, 8)]),
    ])
    func `headers without an image are undecodable`(file: [UInt8]) {
        #expect {
            try decoder.decode(file)
        } throws: {
            if case .undecodable? = $0 as? ImageError { true } else { false }
        }
    }

    @Test(arguments: ImageFormat.allCases, [nil, 4])
    func `an image that is larger than its headers is refused`(format: ImageFormat, size: Int?) throws {
        let file = try Self.picture(format)
        for (width, height) in [(64, 63), (63, 64)] {
            let decoding = StandardImageDecoder.Decoding(
                header: ImageHeader(format, width: width, height: height), frames: 1,
                options: ImageDecodingOptions(maxPixelSize: size), isCancelled: { false })
            #expect {
                try decoding.run(file)
            } throws: {
                if case .undecodable(format, _)? = $0 as? ImageError { true } else { false }
            }
        }
    }

    @Test func `a GIF that ends within a frame has only the frames before`() throws {
        let file = ImageFiles.gif(frames: 3)
        let (start, length) = (file.count - 1 - 3 * 23, 23)
        for count in start + 1..<file.count {
            let (complete, rest) = (count - start).quotientAndRemainder(dividingBy: length)
            let cut = Array(file.prefix(count))
            for limit in 1...4 {
                // Without the mark of the end, a file that ends after a frame is complete.
                if limit <= complete || rest == 0 {
                    let image = try decoder.decode(cut, options: .init(frames: .all(limit: limit)))
                    #expect(image.frames.count == min(limit, complete))
                } else {
                    #expect(throws: ImageError.self) {
                        try decoder.decode(cut, options: .init(frames: .all(limit: limit)))
                    }
                }
            }
            #expect((try? decoder.decode(cut).frames.count) == (complete > 0 ? 1 : nil))
        }
    }

    @Test func `a WebP animation that ends early is undecodable`() throws {
        let frames = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]].map { colour in
            DecodedImage.Frame(image: TestPicture.plain(40, 20, colour.map { UInt8($0) }), duration: .milliseconds(50))
        }
        let file = try #require(DecodedImage(frames: frames)).encoded(as: .webP)
        for count in 12..<file.count {
            for frames in [ImageDecodingOptions.Frames.first, .all()] {
                #expect(throws: ImageError.self) {
                    try decoder.decode(Array(file.prefix(count)), options: .init(frames: frames))
                }
            }
        }
    }

    @Test(arguments: ["CMYK", "GRAY", "Lab "])
    func `a color profile for another kind of pixel is not applied`(space: String) throws {
        var profile = [UInt8](repeating: 0, count: 200)
        profile.replaceSubrange(16..<16 + space.utf8.count, with: space.utf8)
        let file = try TestPicture.halves(24, 16).encoded(as: .jpeg)
        #expect(try decoder.decode(ImageFiles.labelled(file, profile)).image == decoder.decode(file).image)
    }

    @Test(arguments: [nil, 8]) func `a damaged color profile is not applied`(size: Int?) throws {
        let file = try TestPicture.halves(24, 16).encoded(as: .jpeg)
        let expected = try decoder.decode(file, options: .init(maxPixelSize: size)).image
        let profile = ImageFiles.profile(["A2B0"])
        // The beginning of the table, and its end.
        var damaged = profile
        damaged.replaceSubrange(156..<200, with: [UInt8](repeating: 0xFF, count: 44))
        for profile in [damaged, Array(profile.prefix(400))] {
            let labelled = ImageFiles.labelled(file, profile)
            #expect(try decoder.decode(labelled, options: .init(maxPixelSize: size)).image == expected)
        }
    }

    @Test(arguments: ImageFormat.allCases)
    func `five hundred damaged files give an image or a typed error`(format: ImageFormat) throws {
        let file = try TestPicture.halves(24, 16).encoded(as: format)
        var random = SeededRandom(seed: 11)
        for _ in 0..<500 {
            var bytes = file
            for _ in 0...random.below(6) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            let options = ImageDecodingOptions(
                maxPixelSize: random.chance(50) ? 8 : nil, frames: .all(limit: 5), memoryLimit: 4 << 20)
            do {
                let image = try decoder.decode(bytes, options: options)
                #expect(image.byteCount <= options.memoryLimit)
            } catch {
                #expect(error is ImageError, "seed 11")
            }
        }
    }

    @Test func `each of many threads with valid and invalid files gets its own result`() throws {
        let png = try TestPicture.halves(64, 64).encoded(as: .png)
        let jpeg = try Self.picture(.jpeg)
        let cut = Array(jpeg.prefix(jpeg.count / 2))
        let wrong = Guarded<[String]>([])
        let threads = (0..<8).map { number in
            TestThread {
                for _ in 0..<100 {
                    switch number % 2 {
                    case 0:
                        if (try? decoder.decode(png).image[0, 0].red) != 255 { wrong.withLock { $0.append("a PNG") } }
                    default:
                        do {
                            _ = try decoder.decode(cut)
                            wrong.withLock { $0.append("half a JPEG decoded") }
                        } catch {
                            guard case .undecodable(.jpeg, let reason)? = error as? ImageError,
                                !reason.lowercased().contains("png")
                            else {
                                wrong.withLock { $0.append("\(error)") }
                                continue
                            }
                        }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(wrong.withLock { $0 }.isEmpty)
    }
}
#endif
