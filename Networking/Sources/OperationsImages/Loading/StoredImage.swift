#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The format of a decoded image on disk: a header and the pixels. The format needs no library, is fast, and preserves
/// every bit. It suits thumbnails because they are small.
struct StoredImage {
    private static let magic: [UInt8] = Array("swift-operations image 1\n".utf8)

    let image: DecodedImage

    init(_ image: DecodedImage) { self.image = image }

    /// Returns nil if the data has another format, is truncated, or is too long.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        var reader = Reader(bytes)
        guard reader.take(Self.magic), let code = reader.number(), let loops = reader.number(),
            let count = reader.number(), let width = reader.number(), let height = reader.number(),
            (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height), count > 0,
            code >= -1, code < ImageFormat.allCases.count
        else { return nil }
        // Each frame consumes bytes of the data, so that the loop ends early for a false count.
        let (size, overflow) = (width * height).multipliedReportingOverflow(by: 4)
        guard !overflow else { return nil }
        var frames: [DecodedImage.Frame] = []
        for _ in 0..<count {
            guard let seconds = reader.number(), let attoseconds = reader.number(), let pixels = reader.take(size),
                let image = RasterImage(width: width, height: height, pixels: pixels)
            else { return nil }
            let duration = Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
            frames.append(DecodedImage.Frame(image: image, duration: duration))
        }
        let format = code < 0 ? nil : ImageFormat.allCases[code]
        guard reader.isAtEnd,
            let image = DecodedImage(format: format, frames: frames, loopCount: loops < 0 ? nil : loops)
        else { return nil }
        self.image = image
    }

    var data: Data {
        var data = Data(Self.magic)
        let code = image.format.flatMap { ImageFormat.allCases.firstIndex(of: $0) } ?? -1
        for number in [code, image.loopCount ?? -1, image.frames.count, image.width, image.height] {
            data.append(number: Int64(number))
        }
        for frame in image.frames {
            data.append(number: frame.duration.components.seconds)
            data.append(number: frame.duration.components.attoseconds)
            data.append(contentsOf: frame.image.pixels)
        }
        return data
    }

    private struct Reader {
        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { place == bytes.count }

        mutating func take(_ count: Int) -> [UInt8]? {
            guard count <= bytes.count - place else { return nil }
            defer { place += count }
            return Array(bytes[place..<place + count])
        }

        mutating func take(_ expected: [UInt8]) -> Bool { take(expected.count) == expected }

        mutating func number() -> Int? {
            take(8).map { bytes in
                Int(truncatingIfNeeded: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
            }
        }
    }
}

extension Data {
    fileprivate mutating func append(number: Int64) {
        let bits = UInt64(bitPattern: number)
        for shift in 0..<8 { append(UInt8(truncatingIfNeeded: bits >> (8 * shift))) }
    }
}
