#if Networking
public import HTTPCore
#if Images
internal import CImageDecoding
#endif

/// Decodes with libvips; without the trait `Images` fails with `ImageError.builtWithoutImages` after the checks of the
/// headers, which need no library.
///
/// JPEG, PNG, GIF and WebP, and nothing else that libvips may understand. The result is upright, sRGB (embedded profiles
/// are applied, CMYK converted). A file that ends early, or is damaged, fails: nobody gets half an image.
///
/// Why libvips and not libgd: of a JPEG of 1600 × 1200 it makes 256 × 192 in 15 ms of processor time, libgd, which decodes
/// the whole, in 32 (Debian 12; 8.14 and 2.3). libgd reads neither animations of WebP nor EXIF nor profiles. The price:
/// libvips-dev brings 198 MB, libgd-dev 46. Its licence is the LGPL 2.1; but Debian's build links FFTW and libimagequant,
/// which are under the GPL: who ships Debian's libraries with closed code has to build libvips without these.
///
/// Only the loaders of these four formats are called, by name, so that no other, trusted or not, ever sees data.
///
/// Memory: the result, and while it decodes a few rows, or what `ImageHeader.decodedByteCount(frames:)` says of images in
/// passes and of animations; as much again while a photograph is turned. Nothing stays afterwards. For the whole process libvips' caches, generated
/// code and warnings are turned off. All work is done on the calling thread (turning alone takes one more), no lock is held meanwhile.
///
/// `isCancelled` is asked every 16 rows. The passes of a progressive JPEG or interlaced PNG, and each frame of WebP and
/// GIF, come first and in one piece.
public struct StandardImageDecoder: ImageDecoder {
    public init() {}

    public var types: [MediaRange] { ImageFormat.allCases.compactMap { MediaRange($0.mediaType) } }

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
#endif
