#if Images
internal import CImageDecoding
#endif

extension RasterImage {
    /// Returns an image whose longer side has at most `maxPixelSize` pixels. The method never enlarges an image, and
    /// values below 1 count as 1. Use `ImageDecodingOptions.maxPixelSize` to shrink during decoding, which is faster.
    ///
    /// The method needs the trait `Images`, and scales on the calling thread.
    public func thumbnail(maxPixelSize: Int) throws(ImageError) -> RasterImage {
        let size = size(fitting: maxPixelSize)
        if size == (width, height) { return self }
        #if Images
        var status = CIMAGE_FAILED
        var message: UnsafeMutablePointer<CChar>?
        let count = size.width * size.height * 4
        let scaled = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            status = cimage_scale(
                pixels, Int32(width), Int32(height), start, Int32(size.width), Int32(size.height), &message)
            initialized = status == CIMAGE_DONE ? count : 0
        }
        defer { cimage_free(message) }
        guard status == CIMAGE_DONE, let image = RasterImage(width: size.width, height: size.height, pixels: scaled)
        else { throw .undecodable(.png, reason: LibraryMessage(message).text ?? "libvips cannot scale the image") }
        return image
        #else
        throw .builtWithoutImages
        #endif
    }

    /// Encodes the image as a file. For JPEG and WebP, `quality` from 1 to 100 determines the loss of detail. PNG and
    /// GIF ignore `quality`. JPEG has no transparency, so that the encoder puts a white background behind transparent
    /// pixels.
    ///
    /// The method needs the trait `Images`.
    ///
    /// - Throws: `ImageError.unencodable` if a side exceeds the maximum of the format: 65 500 for JPEG, 16 383 for WebP
    ///   and 65 535 for GIF.
    public func encoded(as format: ImageFormat, quality: Int = 80) throws(ImageError) -> [UInt8] {
        try DecodedImage(self).encoded(as: format, quality: quality)
    }
}

extension DecodedImage {
    /// Encodes all frames as a file for GIF and WebP, and the first frame for JPEG and PNG. See
    /// `RasterImage.encoded(as:quality:)`.
    public func encoded(as format: ImageFormat, quality: Int = 80) throws(ImageError) -> [UInt8] {
        #if Images
        let frames = format.isAnimatable ? self.frames : [self.frames[0]]
        let all = frames.count == 1 ? image.pixels : frames.flatMap(\.image.pixels)
        let milliseconds = frames.map { Int32(min(max($0.duration / .milliseconds(1), 0), Double(Int32.max))) }
        guard let total = Int32(exactly: height * frames.count), total < 10_000_000 else {
            throw .unencodable(format, reason: "the image has too many rows")
        }
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        var message: UnsafeMutablePointer<CChar>?
        let status = all.withUnsafeBufferPointer { pixels in
            milliseconds.withUnsafeBufferPointer { milliseconds in
                // Both arrays have at least one element.
                var drawing = cimage_drawing(
                    pixels: pixels.baseAddress!, width: Int32(width), height: Int32(height),
                    frames: Int32(frames.count),
                    loops: Int32(clamping: loopCount ?? 0), milliseconds: milliseconds.baseAddress,
                    format: cimage_format(format), quality: Int32(min(max(quality, 1), 100)))
                return cimage_encode(&drawing, &bytes, &count, &message)
            }
        }
        defer {
            cimage_free(bytes)
            cimage_free(message)
        }
        guard status == CIMAGE_DONE, let bytes else {
            throw .unencodable(format, reason: LibraryMessage(message).text ?? "libvips cannot write the file")
        }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        #else
        throw .builtWithoutImages
        #endif
    }
}
