#if Networking
public import HTTPCore

/// Makes pixels of encoded images (rule I3). Called on any thread, on several at once.
public protocol ImageDecoder: Sendable {
    /// The types of files that it decodes, for the field `Accept`: so a server chooses one of them. `image/*` by default.
    var types: [MediaRange] { get }

    /// Decodes on the calling thread, and returns when it is done. Asks `isCancelled` now and then, on the same thread;
    /// when that is true it throws `ImageError.cancelled`.
    ///
    /// Throws an `ImageError` where one fits: those of `ImageHeader`, `tooLarge` before memory is taken, `undecodable`.
    func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage
}

extension ImageDecoder {
    public var types: [MediaRange] { ["image/*"] }

    public func decode(_ data: [UInt8], options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try decode(data, options: options, isCancelled: { false })
    }
}
#endif
