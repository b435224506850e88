import OperationsImages

/// Pictures that are easy to distinguish.
enum TestPicture {
    static func make(_ width: Int, _ height: Int, pixel: (_ x: Int, _ y: Int) -> [UInt8]) -> RasterImage {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height { for x in 0..<width { pixels += pixel(x, y) } }
        return RasterImage(width: width, height: height, pixels: pixels)!
    }

    static func plain(_ width: Int, _ height: Int, _ colour: [UInt8]) -> RasterImage {
        var pixels = colour
        while pixels.count < width * height * 4 { pixels += pixels }
        return RasterImage(width: width, height: height, pixels: Array(pixels.prefix(width * height * 4)))!
    }

    /// Returns a picture whose left half is red and whose right half is blue.
    static func halves(_ width: Int, _ height: Int) -> RasterImage {
        make(width, height) { x, _ in x < width / 2 ? [255, 0, 0, 255] : [0, 0, 255, 255] }
    }
}

extension RasterImage {
    /// Returns whether the pixel has nearly this color.
    func isNear(_ colour: [Int], at place: (x: Int, y: Int), tolerance: Int = 12) -> Bool {
        let pixel = self[place.x, place.y]
        let values = [pixel.red, pixel.green, pixel.blue, pixel.alpha].map(Int.init)
        return zip(values, colour).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
