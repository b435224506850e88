import OperationsImages
import Testing

struct ImageFormatTests {
    @Test func `the first bytes determine the format`() {
        #expect(ImageFormat(sniffing: ImageFiles.jpeg(1, 1)) == .jpeg)
        #expect(ImageFormat(sniffing: ImageFiles.png(1, 1)) == .png)
        #expect(ImageFormat(sniffing: ImageFiles.gif()) == .gif)
        #expect(ImageFormat(sniffing: "GIF87a".utf8) == .gif)
        #expect(ImageFormat(sniffing: ImageFiles.losslessWebP) == .webP)
    }

    @Test(arguments: ["", "GIF", "GIF88a", "<svg>", "RIFF", "RIFF1234WAVE", "%PDF-1.7", "\u{89}PNG", "BM", "#!/bin/sh"])
    func `data of an unknown format has no format`(text: String) {
        #expect(ImageFormat(sniffing: text.utf8) == nil)
    }

    @Test func `every format names its media type`() {
        #expect(ImageFormat.allCases.map(\.mediaType) == ["image/jpeg", "image/png", "image/gif", "image/webp"])
    }
}
