import Operations

extension Operations.Operation {
    /// The operation as errors and reports name it.
    var queueTestLabel: String {
        let address = "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
        return "\(type(of: self)) \(name.map { "'\($0)'" } ?? address)"
    }
}
