import Operations

/// An operation that decodes an image on a thread of its queue. If the operation is cancelled before it starts, it does
/// not call the decoder.
final class DecodeOperation: Operation, @unchecked Sendable {
    // `@unchecked Sendable` is safe because all properties are constants.
    private let decoder: any ImageDecoder
    private let file: Original
    private let options: ImageDecodingOptions
    private let handler: @Sendable (Result<DecodedImage, any Error>) -> Void

    init(
        _ decoder: any ImageDecoder, _ file: Original, _ options: ImageDecodingOptions,
        handler: @escaping @Sendable (Result<DecodedImage, any Error>) -> Void
    ) {
        self.decoder = decoder
        self.file = file
        self.options = options
        self.handler = handler
        super.init()
    }

    override func main() {
        handler(Result { try decoder.decode(file.bytes, options: options) { self.isCancelled } })
    }
}
