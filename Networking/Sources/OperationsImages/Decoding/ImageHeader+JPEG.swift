extension ImageHeader {
    /// The maximum number of scans in a progressive JPEG. Each scan costs a decoder as much as the complete image, but
    /// only a few bytes in the file. Encoders write about ten scans.
    static let scanLimit = 100

    static func jpeg(_ bytes: [UInt8]) throws(ImageError) -> Self {
        var reader = ByteReader(bytes)
        _ = reader.skip(2)
        while true {
            guard reader.byte() == 0xFF else {
                throw reader.remaining == 0
                    ? cutOff(.jpeg) : .undecodable(.jpeg, reason: "there is no marker at byte \(reader.position - 1)")
            }
            // Any number of 0xFF bytes can precede a marker.
            while reader.peek() == 0xFF { _ = reader.byte() }
            guard let marker = reader.byte() else { throw cutOff(.jpeg) }
            switch marker {
            case 0x01, 0xD0...0xD8: continue
            case 0xD9, 0xDA: throw .undecodable(.jpeg, reason: "there is no frame header before the image")
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
                return try jpegFrame(marker, &reader)
            default: try skipSegment(&reader)
            }
        }
    }

    private static func jpegFrame(_ marker: Int, _ reader: inout ByteReader) throws(ImageError) -> Self {
        guard let length = reader.bigEndian(2), let precision = reader.byte(), let height = reader.bigEndian(2),
            let width = reader.bigEndian(2), let components = reader.byte()
        else { throw cutOff(.jpeg) }
        guard (1...4).contains(components), length == 8 + 3 * components else {
            throw .undecodable(.jpeg, reason: "the frame header is damaged")
        }
        var header = Self(.jpeg, width: width, height: height)
        header.isInterlaced = marker & 0x03 == 2
        // For each coefficient a decoder stores two bytes at any precision, and one more pixel when it shrinks.
        header.bytesPerStoredPixel = components * (precision > 8 ? 4 : 3)
        if header.isInterlaced {
            _ = reader.skip(3 * components)
            try countScans(&reader)
        }
        return header
    }

    private static func countScans(_ reader: inout ByteReader) throws(ImageError) {
        var scans = 0
        while reader.seek(to: 0xFF) {
            _ = reader.byte()
            guard reader.peek() == 0xDA else { continue }
            scans += 1
            guard scans <= scanLimit else {
                throw .undecodable(.jpeg, reason: "there are more than \(scanLimit) scans")
            }
        }
    }

    private static func skipSegment(_ reader: inout ByteReader) throws(ImageError) {
        guard let length = reader.bigEndian(2) else { throw cutOff(.jpeg) }
        guard length >= 2 else { throw .undecodable(.jpeg, reason: "a segment has a length below two") }
        guard reader.skip(length - 2) else { throw cutOff(.jpeg) }
    }
}
