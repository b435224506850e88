#if Networking
public import HTTPCore

extension HTTPSerializer where Value == DecodedImage {
    /// The image, decoded as part of the operation (rules R11, I3). For one that nobody else wants; an `ImageLoader` shares
    /// and keeps images.
    ///
    /// Types other than `image/*` are refused. What the decoder throws is the reason `undecodable` of the `HTTPError`.
    public static func image(
        _ options: ImageDecodingOptions = ImageDecodingOptions(), decoder: any ImageDecoder = StandardImageDecoder()
    ) -> Self {
        var serializer = Self(acceptableTypes: ["image/*"], needsBody: true) { body, _ in
            try decoder.decode([UInt8](body), options: options) { Task.isCancelled }
        }
        serializer.accepted = decoder.types
        return serializer
    }
}
#endif
