#if Networking
import HTTPTypes
public import OperationsNetworking

/// What is asked of an `ImageLoader` besides the address. Equal wishes share all work; wishes that differ in `decoding` only
/// share the transfer (rule I3).
public struct ImageLoadOptions: Hashable, Sendable {
    /// The size, the frames, the memory that decoding may take.
    public var decoding: ImageDecodingOptions
    public var cache: ImageCachePolicy
    /// Asks though the address has failed a short while ago (rule I1).
    public var retryFailed: Bool
    /// Fields, limits, redirects, policies of the transfer. Its URL, method and body do not count.
    public var request: HTTPOperationRequest

    public init(
        decoding: ImageDecodingOptions = ImageDecodingOptions(), cache: ImageCachePolicy = .default,
        retryFailed: Bool = false
    ) {
        self.decoding = decoding
        self.cache = cache
        self.retryFailed = retryFailed
        request = HTTPOperationRequest(.get, "")
    }

    /// An image whose longer side has at most so many pixels.
    public static func thumbnail(_ maxPixelSize: Int) -> ImageLoadOptions {
        ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: maxPixelSize))
    }
}

/// Where an image may come from, and where it is kept (rule I1): memory, then disk, then the network.
public struct ImageCachePolicy: Hashable, Sendable {
    public var readsMemory = true
    public var writesMemory = true
    public var readsDisk = true
    public var writesDisk = true
    public var usesNetwork = true
    /// Asks the server whether what is kept still holds, and reads neither memory nor, unless it does, disk. Of the session's
    /// cache, if there is one; else by what the loader keeps on disk.
    public var refreshes = false

    public init() {}

    public static let `default` = ImageCachePolicy()
    /// What is kept must not come from the network.
    public static let onlyCached = ImageCachePolicy { $0.usesNetwork = false }
    /// The disk is neither read nor written.
    public static let memoryOnly = ImageCachePolicy { ($0.readsDisk, $0.writesDisk) = (false, false) }
    /// Nothing is read or written but the network.
    public static let ignore = ImageCachePolicy {
        ($0.readsMemory, $0.writesMemory, $0.readsDisk, $0.writesDisk) = (false, false, false, false)
    }
    /// Loaded anew, unless the server says that what is kept still holds.
    public static let refresh = ImageCachePolicy { $0.refreshes = true }

    private init(_ change: (inout ImageCachePolicy) -> Void) {
        self.init()
        change(&self)
    }
}
#endif
