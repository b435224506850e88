import HTTPCore

/// The recently used images of a loader. The type is a value.
///
/// Methods return the removed images, so that the caller can release them without a lock.
struct ImageMemory {
    /// The key of an image in memory. The memory limit of the decoding is not a part of the key.
    struct Key: Hashable {
        let name: String
        let maxPixelSize: Int?
        let frames: ImageDecodingOptions.Frames

        init(_ name: String, _ decoding: ImageDecodingOptions) {
            self.name = name
            maxPixelSize = decoding.maxPixelSize
            frames = decoding.frames
        }
    }

    private struct Entry {
        let key: Key
        let image: DecodedImage
    }

    private var entries: RecentlyUsed<Key, Entry>
    /// The keys of each name, so that the removal of a name does not visit the other images.
    private var keys: [String: Set<Key>] = [:]

    init(costLimit: Int, countLimit: Int) { entries = RecentlyUsed(costLimit: costLimit, countLimit: countLimit) }

    var cost: Int { entries.cost }
    var count: Int { entries.count }
    /// The number of names of images in memory.
    var nameCount: Int { keys.count }

    /// Returns an image and marks it as the most recently used image.
    mutating func use(_ key: Key) -> DecodedImage? { entries.use(key)?.image }

    /// Adds an image, unless the image alone exceeds a limit. Returns the images that are not kept, which can include the
    /// image itself.
    mutating func insert(_ image: DecodedImage, for key: Key) -> [DecodedImage] {
        keys[key.name, default: []].insert(key)
        let gone = entries.insert(Entry(key: key, image: image), for: key, cost: image.byteCount)
        // The key of a replaced image remains.
        for entry in gone where entries.peek(entry.key) == nil {
            keys[entry.key.name]?.remove(entry.key)
            if keys[entry.key.name]?.isEmpty == true { keys[entry.key.name] = nil }
        }
        return gone.map(\.image)
    }

    /// Removes all sizes of an image.
    mutating func remove(_ name: String) -> [DecodedImage] {
        (keys.removeValue(forKey: name) ?? []).compactMap { entries.remove($0)?.image }
    }

    mutating func removeAll() -> [DecodedImage] {
        keys = [:]
        return entries.removeAll().map(\.image)
    }
}
