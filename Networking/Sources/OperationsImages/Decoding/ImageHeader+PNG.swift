extension ImageHeader {
    static func png(_ bytes: [UInt8]) throws(ImageError) -> Self {
        var reader = ByteReader(bytes)
        _ = reader.skip(8)
        guard let length = reader.bigEndian(4), let tag = reader.tag(), let width = reader.bigEndian(4),
            let height = reader.bigEndian(4), let depth = reader.byte(), let colour = reader.byte(), reader.skip(2),
            let interlace = reader.byte()
        else { throw cutOff(.png) }
        guard tag == "IHDR", length == 13 else {
            throw .undecodable(.png, reason: "the first chunk is not IHDR")
        }
        guard width <= Int32.max, height <= Int32.max, let channels = channels(ofColour: colour),
            [1, 2, 4, 8, 16].contains(depth), interlace <= 1
        else { throw .undecodable(.png, reason: "the chunk IHDR is damaged") }
        var header = Self(.png, width: width, height: height)
        header.isInterlaced = interlace == 1
        header.bytesPerStoredPixel = channels * (depth == 16 ? 2 : 1)
        return header
    }

    /// Returns the number of channels after decoding. Indexes into a palette become colors with alpha.
    private static func channels(ofColour colour: Int) -> Int? {
        switch colour {
        case 0: 2
        case 2, 3, 6: 4
        case 4: 2
        default: nil
        }
    }
}
