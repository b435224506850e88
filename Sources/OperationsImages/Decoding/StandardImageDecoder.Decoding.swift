#if Networking && Images
internal import CImageDecoding

extension StandardImageDecoder {
    /// One image on its way through the library. Its object's address is what the library asks about cancellation with.
    final class Decoding {
        private let header: ImageHeader
        private let frames: Int
        private let options: ImageDecodingOptions
        private let isCancelled: () -> Bool

        init(header: ImageHeader, frames: Int, options: ImageDecodingOptions, isCancelled: @escaping () -> Bool) {
            self.header = header
            self.frames = frames
            self.options = options
            self.isCancelled = isCancelled
        }

        func run(_ data: [UInt8]) throws(ImageError) -> DecodedImage {
            let result = data.withUnsafeBytes { bytes in
                withExtendedLifetime(self) { Result { () throws(ImageError) in try decode(bytes) } }
            }
            return try result.get()
        }

        private func decode(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> DecodedImage {
            // Headers were read, so there are bytes.
            guard let start = bytes.baseAddress else { throw .emptyData }
            var request = cimage_request(
                bytes: start, count: bytes.count, format: cimage_format(header.format), frames: Int32(frames),
                max_pixel_size: options.maxPixelSize.map { Int32(clamping: max(1, $0)) } ?? 0,
                allowed_bytes: options.memoryLimit,
                is_cancelled: { Unmanaged<Decoding>.fromOpaque($0!).takeUnretainedValue().isCancelled() },
                context: Unmanaged.passUnretained(self).toOpaque())
            var opened = cimage_opened()
            let status = cimage_open(&request, &opened)
            try check(status, opened.message, neededBytes: opened.needed_bytes, what: "its headers")
            guard let image = opened.image else { throw failure("its headers") }
            defer { cimage_close(image) }

            var frames: [DecodedImage.Frame] = []
            for index in 0..<opened.frames {
                let raster = try read(image, width: Int(opened.width), height: Int(opened.height))
                let duration = Duration.milliseconds(max(0, cimage_milliseconds(image, index)))
                frames.append(DecodedImage.Frame(image: raster, duration: duration))
            }
            let loops = opened.loops > 0 ? Int(opened.loops) : nil
            guard let result = DecodedImage(format: header.format, frames: frames, loopCount: loops) else {
                throw failure("its frames")
            }
            return result
        }

        private func read(_ image: OpaquePointer, width: Int, height: Int) throws(ImageError) -> RasterImage {
            var status = CIMAGE_FAILED
            var message: UnsafeMutablePointer<CChar>?
            let count = width * height * 4
            let pixels = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                guard let start = buffer.baseAddress else { return }
                status = cimage_read(image, start, &message)
                initialized = status == CIMAGE_DONE ? count : 0
            }
            try check(status, message, neededBytes: 0, what: "its pixels")
            guard let raster = RasterImage(width: width, height: height, pixels: pixels) else {
                throw failure("its pixels")
            }
            return raster
        }

        private func check(
            _ status: cimage_status, _ message: UnsafeMutablePointer<CChar>?, neededBytes: Int, what: String
        ) throws(ImageError) {
            defer { cimage_free(message) }
            switch status {
            case CIMAGE_DONE: return
            case CIMAGE_CANCELLED: throw .cancelled
            case CIMAGE_TOO_LARGE: throw .tooLarge(neededBytes: neededBytes, allowedBytes: options.memoryLimit)
            default: throw failure(what, message)
            }
        }

        private func failure(_ what: String, _ message: UnsafePointer<CChar>? = nil) -> ImageError {
            .undecodable(header.format, reason: LibraryMessage(message).text ?? "libvips cannot read \(what)")
        }
    }
}

extension cimage_format {
    init(_ format: ImageFormat) {
        self =
            switch format {
            case .jpeg: CIMAGE_JPEG
            case .png: CIMAGE_PNG
            case .gif: CIMAGE_GIF
            case .webP: CIMAGE_WEBP
            }
    }
}

/// What the library says of a failure. It keeps one text for all threads: where other calls were under way at the same
/// time, the text may be theirs, and is not used.
struct LibraryMessage {
    /// Without line ends; nil if there is none that is certain.
    let text: String?

    init(_ message: UnsafePointer<CChar>?) {
        let lines = message.map { String(cString: $0).split(separator: "\n") } ?? []
        text = lines.isEmpty ? nil : lines.joined(separator: "; ")
    }
}
#endif
