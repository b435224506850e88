#if Networking
import Operations

/// One call of a decoder, on a thread of its queue. Cancelled before it starts it calls nothing.
final class DecodeOperation: Operation, @unchecked Sendable {
    // Sendable: constant.
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
#endif
