/// A guarantee of every allocator.
enum Allocation {
    /// The alignment of each block in bytes, so the lower bits of an address are 0.
    @inline(__always) static var alignment: UInt { UInt(2 * MemoryLayout<UInt>.size) }
}
