#if Images
internal import CImageDecoding

extension StandardImageDecoder {
    /// The decoding of one image. The library receives the address of the object and uses it to check for cancellation.
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
            let animation = header.format == .gif ? try GIFAnimation(data, limit: options.frameLimit) : nil
            let result = (animation?.file ?? data).withUnsafeBytes { bytes in
                withExtendedLifetime(self) {
                    Result { () throws(ImageError) in try decode(bytes, animation?.durations) }
                }
            }
            return try result.get()
        }

        /// - Parameter durations: The durations of the frames, or nil for those of libvips.
        private func decode(
            _ bytes: UnsafeRawBufferPointer, _ durations: [Duration]?
        ) throws(ImageError) -> DecodedImage {
            // The headers were parsed, so the data is not empty.
            guard let start = bytes.baseAddress else { throw .emptyData }
            var request = cimage_request(
                bytes: start, count: bytes.count, format: cimage_format(header.format),
                width: Int32(clamping: header.width), height: Int32(clamping: header.height), frames: Int32(frames),
                max_pixel_size: options.maxPixelSize.map { Int32(clamping: max(1, $0)) } ?? 0,
                allowed_bytes: options.memoryLimit,
                is_cancelled: { Unmanaged<Decoding>.fromOpaque($0!).takeUnretainedValue().isCancelled() },
                context: Unmanaged.passUnretained(self).toOpaque())
            var opened = cimage_opened()
            let status = cimage_open(&request, &opened)
            try check(status, opened.message, neededBytes: opened.needed_bytes, what: "the headers")
            guard let image = opened.image else { throw failure("the headers") }
            defer { cimage_close(image) }

            var frames: [DecodedImage.Frame] = []
            for index in 0..<opened.frames {
                let raster = try read(image, width: Int(opened.width), height: Int(opened.height))
                let duration = Duration.milliseconds(max(0, cimage_milliseconds(image, index)))
                frames.append(
                    DecodedImage.Frame(image: raster, duration: durations?.dropFirst(Int(index)).first ?? duration))
            }
            let loops = opened.loops > 0 ? Int(opened.loops) : nil
            guard let result = DecodedImage(format: header.format, frames: frames, loopCount: loops) else {
                throw failure("the frames")
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
            try check(status, message, neededBytes: 0, what: "the pixels")
            guard let raster = RasterImage(width: width, height: height, pixels: pixels) else {
                throw failure("the pixels")
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

/// The library's message for a failure. The library has one message for all threads. If other calls ran at the same
/// time, the message may belong to another call, and is not used.
struct LibraryMessage {
    /// The message in one line, or nil if no message certainly belongs to the call.
    let text: String?

    init(_ message: UnsafePointer<CChar>?) {
        let lines = message.map { String(cString: $0).split(separator: "\n") } ?? []
        text = lines.isEmpty ? nil : lines.joined(separator: "; ")
    }
}
#endif
