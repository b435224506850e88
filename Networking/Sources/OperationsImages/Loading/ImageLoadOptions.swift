import HTTPTypes
public import OperationsNetworking

/// The options of a request to an `ImageLoader`. Equal requests share all work. Requests that differ only in `decoding`
/// share the transfer.
public struct ImageLoadOptions: Hashable, Sendable {
    /// The size, the frames and the memory limit for decoding.
    public var decoding: ImageDecodingOptions
    /// The places where the loader looks for the image and stores it.
    public var cache: ImageCachePolicy
    /// Whether the loader loads an address that has failed recently.
    public var retryFailed: Bool
    /// The fields, limits, redirects and policies of the transfer. The loader ignores the URL, the method and the body.
    public var request: HTTPRequestDescription

    /// Creates options. The default decodes the first frame at the size of the source, and uses all caches.
    public init(
        decoding: ImageDecodingOptions = ImageDecodingOptions(), cache: ImageCachePolicy = .default,
        retryFailed: Bool = false
    ) {
        self.decoding = decoding
        self.cache = cache
        self.retryFailed = retryFailed
        request = HTTPRequestDescription(.get, "")
    }

    /// Returns options for an image whose longer side has at most `maxPixelSize` pixels.
    public static func thumbnail(_ maxPixelSize: Int) -> ImageLoadOptions {
        ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: maxPixelSize))
    }
}

/// The sources of an image and the places where the loader stores it. The order is memory, disk, network.
public struct ImageCachePolicy: Hashable, Sendable {
    /// Whether the loader looks for the image in memory.
    public var readsMemory = true
    /// Whether the loader stores the image in memory.
    public var writesMemory = true
    /// Whether the loader looks for the image on disk.
    public var readsDisk = true
    /// Whether the loader stores the image on disk.
    public var writesDisk = true
    /// Whether the loader may load the image from the network.
    public var usesNetwork = true
    /// Whether the loader asks the server for a newer image. The loader then does not read memory, and uses the image
    /// on disk only if the server confirms it. The session's cache makes the request if there is one. Otherwise the
    /// loader uses the image that it keeps on disk.
    public var refreshes = false

    /// Creates a policy that uses memory, disk and network.
    public init() {}

    /// A policy that uses memory, disk and network.
    public static let `default` = ImageCachePolicy()
    /// The image must not come from the network.
    public static let onlyCached = ImageCachePolicy { $0.usesNetwork = false }
    /// The loader neither reads nor writes the disk.
    public static let memoryOnly = ImageCachePolicy { ($0.readsDisk, $0.writesDisk) = (false, false) }
    /// The loader uses the network only, and stores nothing.
    public static let ignore = ImageCachePolicy {
        ($0.readsMemory, $0.writesMemory, $0.readsDisk, $0.writesDisk) = (false, false, false, false)
    }
    /// The loader loads the image again, unless the server confirms the stored image.
    public static let refresh = ImageCachePolicy { $0.refreshes = true }

    private init(_ change: (inout ImageCachePolicy) -> Void) {
        self.init()
        change(&self)
    }
}
