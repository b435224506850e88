import OperationsImages
import Testing
import TestSupport

struct ImageHeaderTests {
    private func size(_ bytes: [UInt8]) throws -> [Int] {
        let header = try ImageHeader(bytes)
        return [header.width, header.height, header.frameCount]
    }

    // MARK: - Sizes

    @Test func `every format's size is read from its headers`() throws {
        #expect(try size(ImageFiles.jpeg(640, 480)) == [640, 480, 1])
        #expect(try size(ImageFiles.png(70_000, 3)) == [70_000, 3, 1])
        #expect(try size(ImageFiles.gif(screen: (300, 200), frames: 1)) == [300, 200, 1])
        #expect(try size(ImageFiles.losslessWebP) == [8, 8, 1])
        #expect(try size(ImageFiles.lossyWebP) == [8, 8, 1])
        #expect(try size(ImageFiles.webP([ImageFiles.canvas(1 << 24, 5)])) == [1 << 24, 5, 1])
    }

    @Test func `the frames of an animation are counted`() throws {
        #expect(try size(ImageFiles.gif(frames: 3)) == [1, 1, 3])
        let frames = Array(repeating: ImageFiles.frame(4, 4), count: 7)
        #expect(try size(ImageFiles.webP([ImageFiles.canvas(4, 4)] + frames)) == [4, 4, 7])
    }

    @Test func `a frame that exceeds the canvas counts with its full size`() throws {
        #expect(try size(ImageFiles.gif(screen: (1, 1), frames: 1, frameSize: (65_535, 9))) == [65_535, 9, 1])
        let webP = ImageFiles.webP([ImageFiles.canvas(4, 4), ImageFiles.frame(9_000, 2)])
        #expect(try size(webP) == [9_000, 4, 1])
    }

    @Test func `interlaced images are detected`() throws {
        #expect(try ImageHeader(ImageFiles.progressiveJPEG).isInterlaced)
        #expect(try ImageHeader(ImageFiles.interlacedPNG).isInterlaced)
        #expect(try !ImageHeader(ImageFiles.jpeg(8, 8)).isInterlaced)
        #expect(try !ImageHeader(ImageFiles.jpeg(8, 8, scans: 1, scanComponents: 3)).isInterlaced)
        #expect(try !ImageHeader(ImageFiles.png(8, 8)).isInterlaced)
    }

    @Test func `a sequential JPEG with a scan for each component needs the memory of a progressive JPEG`() throws {
        let header = try ImageHeader(ImageFiles.jpeg(100, 100, scans: 3))
        let progressive = try ImageHeader(ImageFiles.jpeg(100, 100, progressive: true))
        #expect(header.isInterlaced && header.decodedByteCount() == progressive.decodedByteCount())
    }

    // MARK: - Memory

    @Test func `a hundred bytes can require gigabytes`() throws {
        let bomb = try ImageHeader(ImageFiles.png(65_535, 65_535))
        #expect(bomb.decodedByteCount() == 65_535 * 65_535 * 4)
        #expect(try ImageHeader(ImageFiles.jpeg(100, 100)).decodedByteCount() == 40_000)
        #expect(try ImageHeader(ImageFiles.jpeg(100, 100, progressive: true)).decodedByteCount() > 100_000)
    }

    @Test func `extreme sizes and numbers of frames do not overflow`() throws {
        let largest = try ImageHeader(ImageFiles.png(Int(Int32.max), Int(Int32.max), interlaced: true))
        #expect(largest.decodedByteCount(frames: .max) == .max)
        #expect(largest.decodedByteCount() == .max)
    }

    // MARK: - Bad data

    @Test func `empty data, an unknown format and a zero size are different errors`() {
        #expect(throws: ImageError.emptyData) { try ImageHeader([]) }
        #expect(throws: ImageError.unknownFormat) { try ImageHeader(Array("<html>".utf8)) }
        #expect(throws: ImageError.zeroSize(.png)) { try ImageHeader(ImageFiles.png(0, 5)) }
        #expect(throws: ImageError.zeroSize(.jpeg)) { try ImageHeader(ImageFiles.jpeg(5, 0)) }
        #expect(throws: ImageError.zeroSize(.gif)) { try ImageHeader(ImageFiles.gif(frameSize: (0, 1))) }
    }

    @Test(arguments: [false, true]) func `an image with a thousand scans is refused`(progressive: Bool) throws {
        #expect(try size(ImageFiles.jpeg(8, 8, progressive: progressive, scans: 100)) == [8, 8, 1])
        for scans in [101, 1_000] {
            let file = ImageFiles.jpeg(8, 8, progressive: progressive, scans: scans)
            #expect(throws: ImageError.self) { try ImageHeader(file) }
        }
    }

    @Test func `stray bytes in front of the first scan and data behind the image do not matter`() throws {
        let file = ImageFiles.jpeg(8, 8, progressive: true)
        let scan = Array(ImageFiles.jpeg(8, 8, scans: 1).dropFirst(ImageFiles.jpeg(8, 8).count))
        let scans = (0..<1000).flatMap { _ in scan }
        #expect(try size(file + [0, 0, 0xFF, 0] + scan + [0xFF, 0xD9] + scans) == [8, 8, 1])
        #expect(throws: ImageError.self) { try ImageHeader(file + scan + [0xFF, 0, 0xFF, 0xD0] + scans) }
        // Neither the header of a scan nor a marker in its data hides the next scans.
        for hiding in [[0xFF, 0xDA, 0, 8, 1, 0xFF, 0x11, 0x3F, 0x3F, 0], [0xFF, 0x02, 0xFF, 0xFF]] as [[UInt8]] {
            #expect(throws: ImageError.self) { try ImageHeader(file + scan + hiding + scans) }
        }
    }

    @Test func `a frame header cannot hide behind a zero after 0xFF`() throws {
        let large = ImageFiles.jpeg(60_000, 60_000).dropFirst(2)
        let small = ImageFiles.jpeg(8, 8).dropFirst(2)
        // A decoder skips the comment with the small size. A segment of the number zero would end inside of the comment.
        let comment = [0xFF, 0xFE] + ImageFiles.big(small.count + 2, 2) + small
        let hiding = ImageFiles.big(2 + large.count + 4, 2)
        #expect(try size([0xFF, 0xD8, 0xFF, 0x00] + hiding + large + comment) == [60_000, 60_000, 1])
        #expect(try size([0xFF, 0xD8, 0xFF, 0xFF, 0xFF, 0x01] + large + comment) == [60_000, 60_000, 1])
    }

    /// Some cameras write them. libjpeg skips them with a warning.
    @Test(arguments: [[1, 2, 3], [0], [0xFF, 0], [0xFF, 0, 7], Array(repeating: 9, count: 1000)] as [[UInt8]])
    func `stray bytes between the segments of a JPEG are skipped`(stray: [UInt8]) throws {
        let file = ImageFiles.jpeg(640, 480)
        // A short APP14.
        let segment: [UInt8] = [0xFF, 0xEE, 0, 4, 1, 2]
        #expect(
            try size(Array(file.prefix(2)) + segment + stray + segment + stray + file.dropFirst(2)) == [640, 480, 1])
    }

    @Test(arguments: [0, 1] as [UInt8]) func `a length of a segment below two counts as two`(length: UInt8) throws {
        let segment: [UInt8] = [0xFF, 0xEE, 0, length]
        let file = ImageFiles.jpeg(640, 480, scans: 3)
        #expect(try size(Array(file.prefix(2)) + segment + segment + file.dropFirst(2)) == [640, 480, 1])
        let head = ImageFiles.jpeg(640, 480)
        let inside = try ImageHeader(head + segment + file.dropFirst(head.count))
        #expect(try inside == ImageHeader(file) && inside.isInterlaced)
    }

    @Test(arguments: samples)
    func `a file truncated anywhere has a size or a typed error`(sample: [UInt8]) throws {
        let whole = try ImageHeader(sample)
        for count in sample.indices {
            do throws(ImageError) {
                let header = try ImageHeader(Array(sample.prefix(count)))
                #expect(header.width <= whole.width && header.height <= whole.height)
            } catch {
                #expect(error == .emptyData || error == .unknownFormat || isUndecodable(error))
            }
        }
    }

    @Test func `a hundred thousand damaged files give a size or a typed error`() throws {
        var random = SeededRandom(seed: 7)
        var read = 0
        for round in 0..<100_000 {
            var bytes = Self.samples[round % Self.samples.count]
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            if random.chance(20) { bytes.removeLast(random.below(bytes.count)) }
            guard let header = try? ImageHeader(bytes) else { continue }
            read += 1
            if header.width <= 0 || header.height <= 0 || header.frameCount <= 0 || header.decodedByteCount() <= 0 {
                Issue.record("seed 7, round \(round): \(header)")
            }
        }
        #expect(read > 10_000)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a megabyte of the smallest blocks is parsed in linear time`() throws {
        let blocks = [UInt8](repeating: 1, count: 1_000_000) + [0]
        let gif = ImageFiles.gif(frames: 1).dropLast() + [0x21, 0xFE] + blocks + [0x3B]
        #expect(try size(Array(gif)) == [1, 1, 1])
        let fill = [UInt8](repeating: 0xFF, count: 1_000_000)
        #expect(throws: ImageError.self) { try ImageHeader([0xFF, 0xD8] + fill) }
        #expect(try size(ImageFiles.jpeg(8, 8, progressive: true) + fill) == [8, 8, 1])
        let chunk = (tag: "abcd", body: [UInt8]())
        let chunks = Array(repeating: chunk, count: 100_000)
        #expect(try size(ImageFiles.webP([ImageFiles.canvas(4, 4)] + chunks)) == [4, 4, 1])
    }

    private static let samples: [[UInt8]] = [
        ImageFiles.jpeg(640, 480), ImageFiles.jpeg(8, 8, progressive: true, scans: 3), ImageFiles.png(640, 480),
        ImageFiles.gif(screen: (9, 9)), ImageFiles.losslessWebP, ImageFiles.lossyWebP,
        ImageFiles.webP([ImageFiles.canvas(40, 40), ImageFiles.frame(40, 40), ImageFiles.frame(20, 20)]),
    ]

    private func isUndecodable(_ error: ImageError) -> Bool {
        if case .undecodable = error { true } else { false }
    }
}
