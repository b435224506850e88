/// Finds the registered property that a key path means although it equals no registered key path: a property that a final class
/// overrides, or a `final override`.
///
/// Swift gives such a key path the address of the overriding getter as its identity. The registered key path has the method
/// descriptor of the property, which has the address of the original getter. The method table of the class that declares the
/// property has the original getter in one slot, and the table of the overriding class has the overriding getter in the same slot.
/// The layouts are those of Swift's stable ABI (its documents KeyPaths and TypeMetadata), for classes without Objective-C.
///
/// A comparison of values would miss announcements without a change, such as those of `isReady`, which must reach the observers as
/// well.
enum OverriddenProperty {
    /// Returns the key of the property; nil if there is none, or if more than one may be meant.
    ///
    /// - Parameter type: The class that the key path is spelled with.
    static func key(at path: AnyKeyPath, among keys: [KeyValueKey], of type: AnyClass) -> KeyValueKey? {
        #if os(Linux) && _pointerBitWidth(_64)
        guard let override = identity(of: path) else { return nil }
        let valueType = Swift.type(of: path).valueType
        let meant = keys.filter { key in
            guard key.valueType == valueType, let descriptor = identity(of: key.path) else { return false }
            return isSlot(of: descriptor, takenBy: override, in: type)
        }
        return meant.count == 1 ? meant[0] : nil
        #else
        return nil
        #endif
    }

    /// Returns the identity of a key path of one computed property: the address of its getter, or of its method descriptor. nil for
    /// other key paths.
    private static func identity(of path: AnyKeyPath) -> UnsafeRawPointer? {
        withExtendedLifetime(path) {
            // The object has two words of its own and the cached string. A buffer follows, whose header is one word. Its first
            // component has a header of four bytes, and the identity at the next word.
            let buffer = UnsafeRawPointer(Unmanaged.passUnretained(path).toOpaque()) + 24
            let size = buffer.load(as: UInt32.self) & 0xFF_FFFF
            let header = buffer.load(fromByteOffset: 8, as: UInt32.self)
            // A computed property, whose identity is an address that needs no resolution.
            let isComputed = header >> 24 & 0x7F == 2
            guard isComputed, header & 0x30_000F == 0, size >= 24 else { return nil }
            return buffer.load(fromByteOffset: 16, as: UnsafeRawPointer?.self)
        }
    }

    /// Whether `override` is in the slot of a method in the table of a class.
    private static func isSlot(
        of descriptor: UnsafeRawPointer, takenBy override: UnsafeRawPointer, in type: AnyClass
    ) -> Bool {
        // The descriptor has the kind of the method, and the relative address of its code.
        let original = descriptor + 4 + Int(descriptor.loadUnaligned(fromByteOffset: 4, as: Int32.self))
        let table = Table(of: type)
        var next: AnyClass? = _getSuperclass(type)
        while let ancestor = next {
            let own = Table(of: ancestor)
            for slot in 0..<own.count where own[slot] == original && table[slot] == override { return true }
            next = _getSuperclass(ancestor)
        }
        return false
    }

    /// The words of the metadata of a class, which include its method table.
    private struct Table {
        private let words: UnsafeRawPointer
        let count: Int

        init(of type: AnyClass) {
            words = unsafeBitCast(type, to: UnsafeRawPointer.self)
            // The size of the metadata, and the number of bytes before the address of the class.
            let size = words.load(fromByteOffset: 32, as: UInt32.self)
            count = (Int(size) - Int(words.load(fromByteOffset: 36, as: UInt32.self))) / 8
        }

        subscript(slot: Int) -> UnsafeRawPointer? { words.load(fromByteOffset: slot * 8, as: UnsafeRawPointer?.self) }
    }
}
