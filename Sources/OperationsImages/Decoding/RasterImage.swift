#if Networking
/// Pixels in memory: sRGB, four bytes each (red, green, blue, alpha, not premultiplied), rows from the top without gaps.
public struct RasterImage: Hashable, Sendable {
    /// In pixels, at least 1.
    public let width: Int
    /// In pixels, at least 1.
    public let height: Int
    /// width × height × 4 bytes.
    public let pixels: [UInt8]

    /// Nil if a side is not positive, or there are not as many bytes as the size says.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        // Sides below 2³¹ cannot overflow.
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height),
            pixels.count % 4 == 0, pixels.count / 4 == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The four bytes of a pixel, which must be inside.
    public subscript(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        precondition(x >= 0 && x < width && y >= 0 && y < height, "there is no such pixel")
        let index = 4 * (y * width + x)
        return (pixels[index], pixels[index + 1], pixels[index + 2], pixels[index + 3])
    }

    /// The size whose longer side has at most so many pixels, in the same proportion as nearly as whole pixels can.
    func size(fitting maxPixelSize: Int) -> (width: Int, height: Int) {
        let longer = max(width, height)
        let size = max(1, maxPixelSize)
        guard longer > size else { return (width, height) }
        func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * Double(size) / Double(longer)).rounded())) }
        return (scaled(width), scaled(height))
    }
}
#endif
