import Foundation

/// Small image files that the tests create by hand, with arbitrary claims in their headers.
enum ImageFiles {
    /// Returns an animated GIF whose frames are alternately red and blue. By default each frame has one pixel.
    static func gif(screen: (Int, Int) = (1, 1), frames: Int = 3, hundredths: Int = 7, frameSize: (Int, Int) = (1, 1))
        -> [UInt8]
    {
        var bytes = Array("GIF89a".utf8) + little(screen.0, 2) + little(screen.1, 2) + [0x80, 0, 0]
        bytes += [255, 0, 0, 0, 0, 255]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 5, 0, 0]
        for index in 0..<frames {
            bytes += [0x21, 0xF9, 4, 0] + little(hundredths, 2) + [0, 0]
            bytes += [0x2C, 0, 0, 0, 0] + little(frameSize.0, 2) + little(frameSize.1, 2) + [0]
            bytes += [2, 2, index % 2 == 0 ? 0x44 : 0x4C, 1, 0]
        }
        return bytes + [0x3B]
    }

    /// A frame of a GIF in one color: its place, its graphic control extension (disposal and hundredths), or nil, and the index
    /// of its color.
    struct Frame {
        var place: (x: Int, y: Int, width: Int, height: Int)
        var control: (disposal: UInt8, hundredths: Int)?
        var colour: UInt8
        /// The index of the transparent color.
        var transparent: UInt8?
    }

    /// Returns a GIF with red, blue, green and yellow in its table. Yellow is the background color.
    static func gif(screen: (Int, Int), _ frames: [Frame]) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + little(screen.0, 2) + little(screen.1, 2) + [0x81, 3, 0]
        bytes += [255, 0, 0, 0, 0, 255, 0, 255, 0, 255, 255, 0]
        for frame in frames {
            if let control = frame.control {
                bytes += [0x21, 0xF9, 4, control.disposal << 2 | (frame.transparent == nil ? 0 : 1)]
                bytes += little(control.hundredths, 2) + [frame.transparent ?? 0, 0]
            }
            let (x, y, width, height) = frame.place
            bytes += [0x2C] + little(x, 2) + little(y, 2) + little(width, 2) + little(height, 2) + [0, 2]
            // A clear code before each pixel keeps every code at three bits.
            var bits = (0..<width * height).flatMap { _ -> [UInt8] in [4, frame.colour] } + [5]
            bits = bits.flatMap { code in (0..<3).map { code >> $0 & 1 } }
            let packed = stride(from: 0, to: bits.count, by: 8).map { start in
                bits[start..<min(start + 8, bits.count)].reversed().reduce(UInt8(0)) { $0 << 1 | $1 }
            }
            for start in stride(from: 0, to: packed.count, by: 255) {
                let block = packed[start..<min(start + 255, packed.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return bytes + [0x3B]
    }

    /// A PNG of 2 × 2 red pixels, with an animation whose second frame is blue.
    static let animatedPNG = base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAACGFjVEwAAAACAAAAAPONk3AAAAAaZmNUTAAAAAAAAAACAAAAAgAAAAAAAAAAAAEACgAA\
        6FTcAAAAABZJREFUeJxj/M/AwMDAwMTAwMDAwAAADR0BA2rCm+kAAAAaZmNUTAAAAAEAAAACAAAAAgAAAAAAAAAAAAEACgAAcyc21AAAABpmZEFUAAAA\
        AnicY2Rg+M/AwMDEwMDAwMAAAAsfAQM5oA0PAAAAAElFTkSuQmCC
        """)

    /// Returns a color profile that exchanges red and blue. It has these tables, and no colorants.
    static func profile(_ tables: [String]) -> [UInt8] {
        // The corners of the cube of RGB in Lab.
        let corners: [UInt8] = [
            0, 128, 128, 136, 208, 195, 224, 42, 211, 248, 106, 222, 82, 207, 20, 154, 226, 67, 232, 80, 114, 255, 128,
            128,
        ]
        return profile(tables, of: "mntrRGB Lab ", channels: 3, corners)
    }

    /// A color profile by which each color of CMYK is green.
    static let greenProfile = profile(
        ["A2B0"], of: "prtrCMYKLab ", channels: 4, (0..<16).flatMap { _ in [224, 42, 211] as [UInt8] })

    /// - Parameter corners: The colors in Lab for zero and one in each channel.
    private static func profile(_ tables: [String], of kind: String, channels: Int, _ corners: [UInt8]) -> [UInt8] {
        func ramp(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in (0...255).map { UInt8($0) } } }
        let identity = [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { big($0 << 16, 4) }
        let table =
            Array("mft1".utf8) + [0, 0, 0, 0, UInt8(channels), 3, 2, 0] + identity + ramp(channels) + corners + ramp(3)
        let white = Array("XYZ ".utf8) + [0, 0, 0, 0] + [63_190, 65_536, 54_061].flatMap { big($0, 4) }
        let tags = [("wtpt", white)] + tables.map { ($0, table) }
        var (index, content) = (big(tags.count, 4), [UInt8]())
        for (name, tag) in tags {
            index += Array(name.utf8) + big(132 + 12 * tags.count + content.count, 4) + big(tag.count, 4)
            content += tag
        }
        var head = [UInt8](repeating: 0, count: 128)
        head.replaceSubrange(0..<4, with: big(128 + index.count + content.count, 4))
        for (place, text) in [(8, "\u{2}@"), (12, kind), (36, "acsp")] {
            head.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
        }
        head.replaceSubrange(68..<80, with: white.dropFirst(8))
        return head + index + content
    }

    /// Returns a JPEG with a color profile, in a segment after the first two bytes.
    static func labelled(_ jpeg: [UInt8], _ profile: [UInt8]) -> [UInt8] {
        let body = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
        return Array(jpeg[..<2]) + [0xFF, 0xE2] + big(body.count + 2, 2) + body + Array(jpeg[2...])
    }

    /// Returns the headers of a PNG without an image.
    static func png(_ width: Int, _ height: Int, interlaced: Bool = false) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13, 4) + Array("IHDR".utf8) + big(width, 4)
            + big(height, 4) + [8, 6, 0, 0, interlaced ? 1 : 0] + big(0, 4)
    }

    /// Returns the headers of a JPEG without an image.
    static func jpeg(
        _ width: Int, _ height: Int, progressive: Bool = false, scans: Int = 0, scanComponents: UInt8 = 1
    ) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, progressive ? 0xC2 : 0xC0, 0, 17, 8] + big(height, 2)
            + big(width, 2) + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
            + (0..<scans).flatMap { _ -> [UInt8] in scan(scanComponents) }
    }

    private static func scan(_ components: UInt8) -> [UInt8] {
        [0xFF, 0xDA, 0, 6 + 2 * components, components] + (1...components).flatMap { [$0, 0] } + [0, 63, 0]
    }

    static func webP(_ chunks: [(tag: String, body: [UInt8])]) -> [UInt8] {
        let body = chunks.flatMap { chunk in
            Array(chunk.tag.utf8) + little(chunk.body.count, 4) + chunk.body
                + (chunk.body.count % 2 == 0 ? [] : [UInt8(0)])
        }
        return Array("RIFF".utf8) + little(body.count + 4, 4) + Array("WEBP".utf8) + body
    }

    /// Returns the chunk that contains the size of the canvas.
    static func canvas(_ width: Int, _ height: Int) -> (tag: String, body: [UInt8]) {
        ("VP8X", [2, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    /// Returns the header of a frame without its image.
    static func frame(_ width: Int, _ height: Int) -> (tag: String, body: [UInt8]) {
        ("ANMF", [UInt8](repeating: 0, count: 6) + little(width - 1, 3) + little(height - 1, 3) + [100, 0, 0, 0])
    }

    /// An image of 8 × 8 pixels with red 200, green 40 and blue 20, in lossless compression.
    static let losslessWebP = webP([("VP8L", base64("LwfAAQAHUJQil6L/gYjofwAA").dropLast())])
    /// The 8 × 8 image in lossy compression.
    static let lossyWebP = webP([("VP8 ", base64("0AEAnQEqCAAIAAIANCWgAnS6AfgAA7AA/u+9V/4VbhiGar/7Kx9Kx9Kx+5QAAA=="))])
    /// The 8 × 8 image in CMYK.
    static let cmykJPEG = base64(
        """
        /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwADAgIDAgIDAwMDBAMDBAUIBQUEBAUKBwcGCAwKDAwLCgsLDQ4SEA0OEQ4LCxAWEBETFBUVFQwPFxgWFBgS\
        FBUU/8AAFAgACAAIBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAE\
        EQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6\
        g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkA\
        SwAAPwD9U6/Pyvzfr9Ba/9k=
        """)
    /// The 8 × 8 image as progressive JPEG.
    static let progressiveJPEG = base64(
        """
        /9j/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgN\
        DRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wgARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAA\
        AAAAAAAAAAAAAAAAAAX/xAAVAQEBAAAAAAAAAAAAAAAAAAAFBv/aAAwDAQACEAMQAAABlA6k/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAB\
        BQJ//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPwF//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPwF//8QAFBABAAAAAAAAAAAA\
        AAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oADAMBAAIAAwAAABAP/8QAFBEBAAAAAAAAAAAAAAAA\
        AAAAAP/aAAgBAwEBPxB//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAgEBPxB//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxB//9k=
        """)
    /// The 8 × 8 image as interlaced PNG.
    static let interlacedPNG = base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAAE8ahlKAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAFUlEQVQImWM4oSHCAMW4KFpwaCQBAN1qQQGl\
        ccegAAAAAElFTkSuQmCC
        """)
    /// The 8 × 8 image with a palette of one color.
    static let palettePNG = base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAMAAADz0U65AAAAA1BMVEXIKBR/QYD1AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWNgoA4A\
        AABIAAF7pRHIAAAAAElFTkSuQmCC
        """)
    /// The red component of the 8 × 8 image in 16 bits of gray.
    static let greyPNG = base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIEAAAAACx9D0UAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAD0lEQVQImWM4gQYYBkYAAJIOZAE9cIouAAAA\
        AElFTkSuQmCC
        """)

    /// Returns a JPEG with an EXIF orientation, in a segment after the first two bytes.
    static func turned(_ jpeg: [UInt8], orientation: UInt8) -> [UInt8] {
        let exif: [UInt8] =
            Array("Exif".utf8) + [0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1]
            + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        let segment = [0xFF, 0xE1] + big(exif.count + 2, 2) + exif
        return Array(jpeg[..<2]) + segment + Array(jpeg[2...])
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }
    static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    private static func base64(_ text: String) -> [UInt8] { [UInt8](Data(base64Encoded: text)!) }
}
