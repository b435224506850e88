extension Unmanaged {
    /// The object at an address; nil for 0.
    @inline(__always)
    static func at(_ address: UInt) -> Unmanaged? { UnsafeRawPointer(bitPattern: address).map { fromOpaque($0) } }

    /// Takes over the reference of the caller. `passRetained` counts another one, and the compiler does not always remove both.
    @inline(__always)
    static func moved(from object: consuming Instance) -> Unmanaged {
        var slot: Instance? = object
        // The address of the object is the reference. Without it the slot holds nothing that its end would release.
        return withUnsafeMutableBytes(of: &slot) { bytes in
            let address = bytes.load(as: UnsafeRawPointer.self)
            bytes.storeBytes(of: 0, as: UInt.self)
            return fromOpaque(address)
        }
    }
}
