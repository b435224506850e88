#if Images
import OperationsImages
import Testing

struct DecodingCancellationTests {
    private let decoder = StandardImageDecoder()

    @Test(arguments: ImageFormat.allCases, [nil, 100])
    func `a cancelled decoding stops in the middle`(format: ImageFormat, size: Int?) throws {
        let file = try TestPicture.plain(800, 600, [9, 8, 7, 255]).encoded(as: format)
        for moment in 1...5 {
            var asked = 0
            #expect(throws: ImageError.cancelled) {
                try decoder.decode(file, options: .init(maxPixelSize: size)) {
                    asked += 1
                    return asked >= moment
                }
            }
            #expect(asked == moment)
        }
    }

    @Test func `a cancelled rotation stops in the middle`() throws {
        let file = ImageFiles.turned(
            try TestPicture.plain(800, 3_000, [9, 8, 7, 255]).encoded(as: .jpeg), orientation: 6)
        var asked = 0
        #expect(throws: ImageError.cancelled) {
            try decoder.decode(file, options: .init()) {
                asked += 1
                return asked == 3
            }
        }
    }

    @Test func `a cancelled animation stops between its frames`() throws {
        var asked = 0
        #expect(throws: ImageError.cancelled) {
            try decoder.decode(ImageFiles.gif(frames: 20), options: .init(frames: .all())) {
                asked += 1
                return asked == 10
            }
        }
        #expect(asked == 10)
    }
}
#endif
