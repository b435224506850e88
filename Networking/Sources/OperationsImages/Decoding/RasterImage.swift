/// An image in memory in sRGB, with four bytes for each pixel (red, green, blue, alpha, not premultiplied). The rows
/// begin at the top and have no padding.
public struct RasterImage: Hashable, Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// The pixels: width × height × 4 bytes.
    public let pixels: [UInt8]

    /// Returns nil if the width or height is not positive, or if the number of bytes does not match the size.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        // The product of two numbers below 2³¹ cannot overflow.
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height),
            pixels.count % 4 == 0, pixels.count / 4 == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// Returns the four components of a pixel.
    ///
    /// - Precondition: The coordinates are inside of the image.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        precondition(x >= 0 && x < width && y >= 0 && y < height, "the pixel is outside of the image")
        let index = 4 * (y * width + x)
        return (pixels[index], pixels[index + 1], pixels[index + 2], pixels[index + 3])
    }

    /// Returns the size with a longer side of at most `maxPixelSize` pixels, with nearly the same proportions.
    func size(fitting maxPixelSize: Int) -> (width: Int, height: Int) {
        let longer = max(width, height)
        let size = max(1, maxPixelSize)
        guard longer > size else { return (width, height) }
        func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * Double(size) / Double(longer)).rounded())) }
        return (scaled(width), scaled(height))
    }
}
