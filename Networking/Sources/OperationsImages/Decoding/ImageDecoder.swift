public import HTTPCore

/// A decoder of image files. Methods are called on any thread and concurrently.
public protocol ImageDecoder: Sendable {
    /// The types of files that the decoder supports. Requests list them in the field `Accept`, so that the server can
    /// choose one. The default is `image/*`.
    var types: [MediaRange] { get }

    /// Decodes an image on the calling thread. The decoder calls `isCancelled` from time to time on the same thread,
    /// and throws `ImageError.cancelled` when the result is true.
    ///
    /// - Throws: An `ImageError` where one applies: an error of `ImageHeader`, `tooLarge` before the decoder allocates
    ///   memory, or `undecodable`.
    func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage
}

extension ImageDecoder {
    /// All image types: `image/*`.
    public var types: [MediaRange] { ["image/*"] }

    /// Decodes an image on the calling thread, without cancellation.
    public func decode(_ data: [UInt8], options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try decode(data, options: options, isCancelled: { false })
    }
}
