#if Images
import OperationsImages
import Testing

struct EncodingTests {
    @Test(arguments: ImageFormat.allCases)
    func `an encoded file has its format and its pixels`(format: ImageFormat) throws {
        let file = try TestPicture.halves(64, 32).encoded(as: format)
        let header = try ImageHeader(file)
        #expect([header.width, header.height] == [64, 32])
        #expect(header.format == format)
        let image = try StandardImageDecoder().decode(file).image
        #expect(image.isNear([255, 0, 0, 255], at: (5, 5)))
        #expect(image.isNear([0, 0, 255, 255], at: (60, 5)))
    }

    @Test(arguments: [ImageFormat.jpeg, .webP])
    func `a higher quality makes larger files, and every number is valid`(format: ImageFormat) throws {
        let picture = TestPicture.make(64, 64) { x, y in
            [UInt8(truncatingIfNeeded: x * y * 7), UInt8(x * 4), UInt8(y * 4), 255]
        }
        let sizes = try [Int.min, 20, 60, 90, .max].map { try picture.encoded(as: format, quality: $0).count }
        #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count)
    }

    @Test func `transparent pixels become white in JPEG, and stay transparent in other formats`() throws {
        let picture = TestPicture.plain(16, 16, [255, 0, 0, 0])
        let decoder = StandardImageDecoder()
        #expect(try decoder.decode(picture.encoded(as: .jpeg)).image.isNear([255, 255, 255, 255], at: (8, 8)))
        for format in [ImageFormat.png, .webP, .gif] {
            #expect(try decoder.decode(picture.encoded(as: format)).image[8, 8].alpha == 0)
        }
    }

    @Test func `a side above the maximum of the format is a typed error`() throws {
        let long = TestPicture.plain(70_000, 1, [0, 0, 0, 255])
        for format in [ImageFormat.jpeg, .webP, .gif] {
            #expect { try long.encoded(as: format) } throws: {
                if case .unencodable(format, let reason)? = $0 as? ImageError { !reason.isEmpty } else { false }
            }
        }
        #expect(try ImageHeader(long.encoded(as: .png)).width == 70_000)
    }
}
#endif
