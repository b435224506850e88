public import HTTPCore
#if Images
internal import CImageDecoding
#endif

/// A decoder that uses libvips. Without the trait `Images`, the decoder parses the headers and then throws
/// `ImageError.builtWithoutImages`.
///
/// The decoder supports JPEG, PNG, GIF and WebP only. The result is upright and in sRGB: the decoder applies embedded
/// profiles, unless they are damaged, and converts CMYK. A truncated file fails, so that no partial image is delivered. So do most
/// damaged files: libjpeg repairs some errors, such as a wrong code within a JPEG, and delivers gray or wrong parts.
///
/// The frames of an animated WebP are not turned by its EXIF orientation.
///
/// The parts of a GIF that no frame covers are transparent, as in browsers. So are cleared parts, except under a frame that is
/// opaque and has 256 colors: they have the background color. Of an animated PNG, the decoder delivers the default image, which
/// is usually the first frame.
///
/// The decoder uses libvips rather than libgd. Of a JPEG with 1600 × 1200 pixels, libvips makes a thumbnail with 256 × 192
/// pixels in 15 ms of processor time. The library libgd decodes the complete image and needs 32 ms (Debian 12, versions 8.14
/// and 2.3). Furthermore, libgd does not read WebP animations, EXIF or profiles. A disadvantage of libvips is the size:
/// libvips-dev installs 198 MB, and libgd-dev installs 46 MB.
///
/// The license of libvips is the LGPL 2.1. Debian's build links FFTW and libimagequant, which are under the GPL. To
/// ship closed code together with the libraries, build libvips without FFTW and libimagequant.
///
/// The decoder calls the loaders of the four formats by name, so that no other loader of libvips receives data.
///
/// The decoder needs memory for the result and for a few rows. Interlaced images and animations need the memory that
/// `ImageHeader.decodedByteCount(frames:)` returns. The rotation of a photograph doubles the memory. No memory remains
/// in use after decoding. The decoder turns off the caches, generated code and warnings of libvips for the complete
/// process. All work runs on the calling thread, except that a rotation uses one more thread. The decoder holds no lock
/// while it decodes.
///
/// The decoder calls `isCancelled` every 16 rows. The passes of a progressive JPEG or an interlaced PNG, and each frame
/// of WebP and GIF, run first and without a check.
public struct StandardImageDecoder: ImageDecoder {
    /// Creates a decoder.
    public init() {}

    /// The media types of JPEG, PNG, GIF and WebP.
    public var types: [MediaRange] { ImageFormat.allCases.compactMap { MediaRange($0.mediaType) } }

    /// Decodes an image on the calling thread. See ``ImageDecoder/decode(_:options:isCancelled:)``.
    public func decode(
        _ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool
    ) throws(ImageError) -> DecodedImage {
        if isCancelled() { throw .cancelled }
        let header = try ImageHeader(data)
        let frames = options.frameCount(of: header)
        let needed = header.decodedByteCount(frames: frames)
        guard needed <= options.memoryLimit else {
            throw .tooLarge(neededBytes: needed, allowedBytes: options.memoryLimit)
        }
        #if Images
        return try withoutActuallyEscaping(isCancelled) { isCancelled throws(ImageError) in
            let decoding = Decoding(header: header, frames: frames, options: options, isCancelled: isCancelled)
            return try decoding.run(data)
        }
        #else
        throw .builtWithoutImages
        #endif
    }
}
