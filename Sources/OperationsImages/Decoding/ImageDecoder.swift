#if Networking
/// Makes pixels of encoded images (rule I3). Called on any thread, on several at once.
public protocol ImageDecoder: Sendable {
    /// Decodes on the calling thread, and returns when it is done. Asks `isCancelled` now and then, on the same thread;
    /// when that is true it throws `ImageError.cancelled`.
    ///
    /// Throws an `ImageError` where one fits: those of `ImageHeader`, `tooLarge` before memory is taken, `undecodable`.
    func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage
}

extension ImageDecoder {
    public func decode(_ data: [UInt8], options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try decode(data, options: options, isCancelled: { false })
    }
}
#endif
