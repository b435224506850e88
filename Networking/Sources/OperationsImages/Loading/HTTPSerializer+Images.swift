public import HTTPCore

extension HTTPSerializer where Value == DecodedImage {
    /// Decodes an image as a part of the operation. Use an `ImageLoader` to share and cache images between requests.
    ///
    /// The serializer accepts the types `image/*`. An error of the decoder becomes `HTTPError.Reason.undecodable`.
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
