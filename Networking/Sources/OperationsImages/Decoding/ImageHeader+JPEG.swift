extension ImageHeader {
    /// The maximum number of scans in a JPEG of several scans. Each scan costs a decoder as much as the complete image, but
    /// only a few bytes in the file. Encoders write about ten scans.
    static let scanLimit = 100

    static func jpeg(_ bytes: [UInt8]) throws(ImageError) -> Self {
        var reader = ByteReader(bytes)
        _ = reader.skip(2)
        while let marker = soughtMarker(&reader) {
            switch marker {
            case 0x01, 0xD0...0xD8: continue
            case 0xD9, 0xDA: throw .undecodable(.jpeg, reason: "there is no frame header before the image")
            case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
                return try jpegFrame(marker, &reader)
            default: guard skipSegment(&reader) else { throw cutOff(.jpeg) }
            }
        }
        throw cutOff(.jpeg)
    }

    private static func jpegFrame(_ marker: Int, _ reader: inout ByteReader) throws(ImageError) -> Self {
        guard let length = reader.bigEndian(2), let precision = reader.byte(), let height = reader.bigEndian(2),
            let width = reader.bigEndian(2), let components = reader.byte()
        else { throw cutOff(.jpeg) }
        guard (1...4).contains(components), length == 8 + 3 * components else {
            throw .undecodable(.jpeg, reason: "the frame header is damaged")
        }
        var header = Self(.jpeg, width: width, height: height)
        _ = reader.skip(3 * components)
        let scanned = componentsOfFirstScan(&reader) ?? components
        header.isInterlaced = marker & 0x03 == 2 || scanned < components
        // For each coefficient a decoder stores two bytes at any precision, and one more pixel when it shrinks.
        header.bytesPerStoredPixel = components * (precision > 8 ? 4 : 3)
        if header.isInterlaced { try countFurtherScans(&reader) }
        return header
    }

    /// Returns the number of components in the first scan, or nil if the data ends before the scan.
    private static func componentsOfFirstScan(_ reader: inout ByteReader) -> Int? {
        while let marker = soughtMarker(&reader) {
            switch marker {
            case 0x01, 0xD0...0xD8: continue
            case 0xD9: return nil
            case 0xDA:
                guard let length = reader.bigEndian(2), length >= 3, let count = reader.byte(),
                    reader.skip(length - 3)
                else {
                    return nil
                }
                return count
            default: guard skipSegment(&reader) else { return nil }
            }
        }
        return nil
    }

    private static func countFurtherScans(_ reader: inout ByteReader) throws(ImageError) {
        var scans = 1
        while let marker = soughtMarker(&reader) {
            switch marker {
            // Below 0xC0 no marker has a segment. libjpeg passes over those that it finds in the data of a scan.
            case 0x01...0xBF, 0xD0...0xD8: continue
            // Other data may follow the image.
            case 0xD9: return
            default:
                if marker == 0xDA { scans += 1 }
                guard skipSegment(&reader) else { return }
            }
            guard scans <= scanLimit else {
                throw .undecodable(.jpeg, reason: "there are more than \(scanLimit) scans")
            }
        }
    }

    /// Returns the next marker behind the data of a scan, or behind stray bytes; nil at the end. As libjpeg does, it skips a zero
    /// after 0xFF, and finds markers in the bytes that a segment of this number would contain.
    private static func soughtMarker(_ reader: inout ByteReader) -> Int? {
        while reader.seek(to: 0xFF) {
            while reader.peek() == 0xFF { _ = reader.byte() }
            guard let marker = reader.byte() else { return nil }
            if marker != 0 { return marker }
        }
        return nil
    }

    /// Returns false if the data ends before the end of the segment. A length below two counts as two, as in libjpeg.
    private static func skipSegment(_ reader: inout ByteReader) -> Bool {
        guard let length = reader.bigEndian(2) else { return false }
        return reader.skip(max(0, length - 2))
    }
}
