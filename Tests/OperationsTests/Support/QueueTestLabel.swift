import Operations

extension Operations.Operation {
    /// The name of the operation in errors and reports.
    var queueTestLabel: String {
        let address = "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
        return "\(type(of: self)) \(name.map { "'\($0)'" } ?? address)"
    }
}
