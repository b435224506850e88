#if Networking
#if Images
internal import CImageDecoding
#endif

extension RasterImage {
    /// A picture whose longer side has at most so many pixels, at least 1; never enlarged. To shrink while decoding, which
    /// is faster, give `ImageDecodingOptions.maxPixelSize`.
    ///
    /// Needs the trait `Images`. Scales on the calling thread.
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
        else { throw .undecodable(.png, reason: LibraryMessage(message).text ?? "libvips cannot scale it") }
        return image
        #else
        throw .builtWithoutImages
        #endif
    }

    /// The bytes of a file with this picture. JPEG and WebP lose detail, the less the nearer `quality` is to 100 (it is
    /// at least 1; PNG and GIF do not ask for it). What is transparent is laid on white in JPEG.
    ///
    /// Needs the trait `Images`. Fails with `unencodable` where the format has no room: a side above 65 500 in JPEG, 16 383
    /// in WebP, 65 535 in GIF.
    public func encoded(as format: ImageFormat, quality: Int = 80) throws(ImageError) -> [UInt8] {
        try DecodedImage(self).encoded(as: format, quality: quality)
    }
}

extension DecodedImage {
    /// The bytes of a file with all frames, as GIF and WebP, or with the first, as JPEG and PNG. Otherwise as
    /// `RasterImage.encoded(as:quality:)`.
    public func encoded(as format: ImageFormat, quality: Int = 80) throws(ImageError) -> [UInt8] {
        #if Images
        let frames = format.isAnimatable ? self.frames : [self.frames[0]]
        let all = frames.count == 1 ? image.pixels : frames.flatMap(\.image.pixels)
        let milliseconds = frames.map { Int32(min(max($0.duration / .milliseconds(1), 0), Double(Int32.max))) }
        guard let total = Int32(exactly: height * frames.count), total < 10_000_000 else {
            throw .unencodable(format, reason: "there are too many rows")
        }
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        var message: UnsafeMutablePointer<CChar>?
        let status = all.withUnsafeBufferPointer { pixels in
            milliseconds.withUnsafeBufferPointer { milliseconds in
                // Neither is empty.
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
            throw .unencodable(format, reason: LibraryMessage(message).text ?? "libvips cannot write it")
        }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        #else
        throw .builtWithoutImages
        #endif
    }
}
#endif
